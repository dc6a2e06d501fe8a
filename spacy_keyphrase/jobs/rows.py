"""The input cut into parts, and rows of JSON lines, CSV and text files."""

import csv
import gzip
import io
import json
import zlib
from typing import IO, Any, Iterator, List, Union, cast

from .items import Item, Place, Row, Split, Unreadable
from .parquet import count_groups
from .places import Input, open_input, suffix

# Bytes of JSON lines, and files of texts, that are read by one reader.
SPLIT_BYTES, SPLIT_FILES = 64_000_000, 2_000


def make_splits(inputs: List[Input]) -> List[Split]:
    """Cut the input into parts that can be read apart from each other.

    Compressed files and CSV are read by one reader each.
    """
    splits: List[Split] = []
    texts: List[str] = []
    for path, size in inputs:
        kind = suffix(path)
        if kind == ".txt":
            texts.append(path)
        elif kind == ".parquet":
            for group in range(count_groups(path)):
                splits.append(Split(len(splits), [path], group, group + 1))
        elif kind == ".csv" or path.endswith(".gz"):
            splits.append(Split(len(splits), [path]))
        else:
            for start in range(0, size, SPLIT_BYTES):
                end = min(start + SPLIT_BYTES, size)
                splits.append(Split(len(splits), [path], start, end))
    for first in range(0, len(texts), SPLIT_FILES):
        splits.append(Split(len(splits), texts[first : first + SPLIT_FILES]))
    return splits


def read_rows(split: Split) -> Iterator[Item]:
    """The rows of a part of the input; those that cannot be read as what says so."""
    kind = suffix(split.paths[0])
    readers = {".csv": _read_csv, ".txt": _read_texts}
    return readers.get(kind, _read_json)(split)


def _read_texts(split: Split) -> Iterator[Item]:
    for path in split.paths:
        try:
            with open_input(path) as file:
                text = _plain(file, path).read().decode("utf-8-sig")
            yield Item(Place(path, 0), {"path": path, "text": text})
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            yield Item(Place(path, 0), Unreadable(f"cannot be read: {error}"))


def _read_json(split: Split) -> Iterator[Item]:
    (path,) = split.paths
    place = Place(path, split.start)
    with open_input(path) as file:
        lines = _plain(file, path)
        if split.start:
            # A line belongs to the part in which it begins.
            lines.seek(split.start - 1)
            place = Place(path, split.start - 1 + len(lines.readline()))
        try:
            while not split.end or place.row < split.end:
                line = lines.readline()
                if not line:
                    return
                if line.strip():
                    yield Item(place, _parse(line))
                place = Place(path, place.row + len(line))
        except (OSError, EOFError, zlib.error) as error:
            yield Item(place, Unreadable(f"the rest cannot be read: {error}"))


def _parse(line: bytes) -> Union[Row, Unreadable]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return Unreadable(f"not valid JSON: {error}", _shorten(line))
    if isinstance(row, dict):
        return row
    return Unreadable("not a JSON object", _shorten(line))


def _read_csv(split: Split) -> Iterator[Item]:
    (path,) = split.paths
    csv.field_size_limit(2**31 - 1)
    number = 0
    with open_input(path) as file:
        plain = cast(Any, _plain(file, path))
        text = io.TextIOWrapper(plain, encoding="utf-8-sig", newline="")
        rows = csv.DictReader(text)
        try:
            for number, row in enumerate(rows):
                if None in row:
                    raw = _shorten(json.dumps(row.pop(None)).encode())
                    why = "more fields than the first line has names"
                    yield Item(Place(path, number), Unreadable(why, raw))
                else:
                    yield Item(Place(path, number), row)
        except (OSError, EOFError, zlib.error, csv.Error, UnicodeDecodeError) as error:
            why = f"the rest cannot be read: {error}"
            yield Item(Place(path, number + 1), Unreadable(why))


def _plain(file: IO[bytes], path: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file)) if path.endswith(".gz") else file


def _shorten(raw: bytes) -> str:
    return raw[:1000].decode("utf-8", "replace").rstrip("\r\n")
