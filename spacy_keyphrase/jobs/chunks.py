"""Rows in chunks: what is worked on, written and, after an interruption, not done
again."""

from itertools import islice
from typing import AbstractSet, Any, Iterator, List, Sequence

from .items import Chunk, Item, Place, Split, Unreadable
from .parquet import count_rows, read_tables
from .places import suffix
from .rows import read_rows


def read_chunks(
    split: Split, size: int, columns: Sequence[str], done: AbstractSet[str]
) -> Iterator[Chunk]:
    """The chunks of a part of the input.

    split (Split): The part.
    size (int): Rows of a chunk at most.
    columns (Sequence[str]): Those with texts.
    done (AbstractSet[str]): Names of chunks that are left out.
    """
    if suffix(split.paths[0]) == ".parquet":
        yield from _chunks_of_tables(split, size, columns, done)
        return
    rows = read_rows(split)
    number = 0
    while items := list(islice(rows, size)):
        name = chunk_name(split, number)
        number += 1
        if name not in done:
            yield Chunk(name, items)


def chunk_name(split: Split, number: int) -> str:
    """What a chunk is called: the number of its part, and its own."""
    return f"{split.number:06d}-{number:05d}"


def _chunks_of_tables(
    split: Split, size: int, columns: Sequence[str], done: AbstractSet[str]
) -> Iterator[Chunk]:
    (path,) = split.paths
    counts = count_rows(split)
    row, end = sum(counts[: split.start]), sum(counts)
    number = 0
    try:
        for table in read_tables(split, size):
            name = chunk_name(split, number)
            number += 1
            if name not in done:
                yield Chunk(name, _items(table, path, row, columns), table)
            row += table.num_rows
    except (OSError, ValueError) as error:
        name = chunk_name(split, number)
        if name not in done:
            why = f"row group {split.start} cannot be read: {error}"
            item = Item(Place(path, row), Unreadable(why, rows=end - row))
            yield Chunk(name, [item])


def _items(table: Any, path: str, row: int, columns: Sequence[str]) -> List[Item]:
    present = [name for name in columns if name in table.column_names]
    rows = table.select(present).to_pylist()
    return [Item(Place(path, row + i), values) for i, values in enumerate(rows)]
