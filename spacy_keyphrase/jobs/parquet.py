"""Tables of Parquet files, and Parquet files of what was found."""

import io
from typing import Any, Iterator, List, Sequence

from .items import Row, Split
from .places import open_input


def count_groups(path: str) -> int:
    """How many row groups a file has."""
    with _Opened(path) as file:
        return int(file.num_row_groups)


def read_schema(path: str) -> Any:
    """The Arrow schema of a file."""
    with _Opened(path) as file:
        return file.schema_arrow


def count_rows(split: Split) -> List[int]:
    """The rows of row groups up to the end of a part of the input."""
    with _Opened(split.paths[0]) as file:
        return [file.metadata.row_group(g).num_rows for g in range(split.end)]


def read_tables(split: Split, size: int) -> Iterator[Any]:
    """The rows of a part of the input, in tables of so many at most.

    RAISES: OSError, ValueError where its data are damaged.
    """
    import pyarrow

    with _Opened(split.paths[0]) as file:
        groups = list(range(split.start, split.end))
        for batch in file.iter_batches(size, row_groups=groups):
            yield pyarrow.Table.from_batches([batch])


def keyphrase_type() -> Any:
    """Of the column with the keyphrases: a list of records."""
    import pyarrow as pa

    return pa.list_(
        pa.struct(
            [
                ("text", pa.string()),
                ("score", pa.float32()),
                ("offsets", pa.list_(pa.list_(pa.int32()))),
                ("is_present", pa.bool_()),
                ("normal_form", pa.string()),
                ("source", pa.string()),
                ("mention_scores", pa.list_(pa.float32())),
            ]
        )
    )


def to_parquet(table: Any, column: str, keyphrases: Sequence[Any]) -> bytes:
    """A table with a column more, as a file.

    table (Table): An Arrow table.
    column (str): Name of the column.
    keyphrases (Sequence[Any]): Of each row, as `Keyphrase.to_dict` has them.
    """
    import pyarrow as pa
    from pyarrow import parquet

    values = pa.array(keyphrases, type=keyphrase_type())
    target = io.BytesIO()
    parquet.write_table(table.append_column(column, values), target, compression="zstd")
    return target.getvalue()


def infer_schema(rows: Sequence[Row]) -> Any:
    """The Arrow schema of rows; what is empty everywhere is text."""
    import pyarrow as pa

    found = pa.Table.from_pylist(list(rows)).schema
    names = list(dict.fromkeys(name for row in rows for name in row))
    fields = []
    for name in names:
        index = found.get_field_index(name)
        kind = found.field(index).type if index >= 0 else pa.null()
        fields.append(pa.field(name, pa.string() if pa.types.is_null(kind) else kind))
    return pa.schema(fields)


class _Opened:
    """A Parquet file, closed behind it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> Any:
        try:
            from pyarrow import parquet
        except ImportError as error:
            message = 'Parquet needs pyarrow: pip install "spacy-keyphrase[ray]".'
            raise ImportError(message) from error
        self.opened = open_input(self.path)
        file = self.opened.__enter__()
        try:
            return parquet.ParquetFile(file)
        except (OSError, ValueError) as error:
            self.opened.__exit__(None, None, None)
            raise ValueError(f"{self.path} is no Parquet file: {error}") from error

    def __exit__(self, *error: Any) -> None:
        self.opened.__exit__(None, None, None)
