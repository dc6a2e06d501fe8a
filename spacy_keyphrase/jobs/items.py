"""What is read, and from where."""

from typing import Any, Dict, List, NamedTuple, Optional, Union

Row = Dict[str, Any]


class Split(NamedTuple):
    """A part of the input that is read in one go.

    number (int): Counted over all input.
    paths (List[str]): Its files; one, unless they are texts.
    start, end (int): Bytes of JSON lines, or row groups of Parquet; 0 and 0 for all.
    """

    number: int
    paths: List[str]
    start: int = 0
    end: int = 0


class Unreadable(NamedTuple):
    """What stands in the place of a row that cannot be read.

    error (str): Why.
    raw (Optional[str]): The beginning of what was there.
    rows (int): How many rows it stands for.
    """

    error: str
    raw: Optional[str] = None
    rows: int = 1


class Place(NamedTuple):
    """Where a row is from.

    file (str): Path or URL.
    row (int): Its number in the file; for JSON lines, of the byte it begins with.
    """

    file: str
    row: int


class Item(NamedTuple):
    """A row, or what there is instead, and its place."""

    place: Place
    row: Union[Row, Unreadable]


class Chunk(NamedTuple):
    """Rows that are worked on and written together.

    name (str): Of the same rows always the same.
    items (List[Item]): The rows; of a table only the columns with texts.
    table (Any): The Arrow table that they are of, or None.
    """

    name: str
    items: List[Item]
    table: Any = None
