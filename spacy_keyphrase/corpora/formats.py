"""The open table of corpus formats, and how a corpus tells its own."""

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Callable, Dict, FrozenSet, Iterator, Mapping, Optional

from .context import CorpusError, ReadContext
from .document import KeyphraseDocument
from .files import read_lines, suffix_of, walk

JSON_SUFFIXES = (".jsonl", ".json", ".ndjson")

Record = Dict[str, Any]
Reader = Callable[[Path, ReadContext], Iterator[KeyphraseDocument]]
# Makes a document of a record, given an identifier for those that have none;
# raises MalformedError where it cannot.
Build = Callable[[Record, str, ReadContext], KeyphraseDocument]


class Probe:
    """What can be seen of a corpus without reading it.

    path (Path): A file or a folder.
    """

    def __init__(self, path: Path):
        self.path = path

    @cached_property
    def suffixes(self) -> FrozenSet[str]:
        """The suffixes of its files, ".gz" taken off."""
        return frozenset(map(suffix_of, walk(self.path)))

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The first JSON record of the first JSON file, {} where there is none.

        Malformed lines before it are passed over: reading will tell of them.
        """
        if self.suffixes.isdisjoint(JSON_SUFFIXES):
            return {}
        context = ReadContext(on_error="skip")
        for file in walk(self.path, JSON_SUFFIXES):
            for _, line in islice(read_lines(file, context), 100):
                try:
                    record = json.loads(line or "")
                except (ValueError, RecursionError):
                    continue
                if isinstance(record, dict):
                    return record
        return {}


@dataclass(frozen=True)
class Format:
    """A corpus format.

    name (str): Its name in `read_corpus` and on the command line.
    read (Reader): Yields the documents of a path.
    detect (Callable[[Probe], bool]): Whether a corpus is of this format.
    description (str): One line for the user.
    build (Optional[Build]): Where it is one JSON record a document: what makes a
        document of a record. Such a format can be read from a stream.
    """

    name: str
    read: Reader
    detect: Callable[[Probe], bool]
    description: str
    build: Optional[Build] = None


FORMATS: Dict[str, Format] = {}


def register_format(format: Format) -> None:
    """Add a format to those that `read_corpus` knows.

    format (Format): The format; one of the same name is replaced. To detect the
        format of a corpus they are asked from the last added to the first.
    """
    FORMATS.pop(format.name, None)
    FORMATS[format.name] = format


def get_format(name: str, path: Path) -> Format:
    """The format of that name; "auto" looks at the corpus.

    name (str): Name of a format, or "auto".
    path (Path): The corpus, which must exist.
    RETURNS (Format): The format.
    """
    if name != "auto":
        if name not in FORMATS:
            allowed = ", ".join(["auto", *FORMATS])
            raise ValueError(f"Unknown corpus format {name!r}; allowed are: {allowed}.")
        return FORMATS[name]
    probe = Probe(path)
    for format in reversed(list(FORMATS.values())):
        if format.detect(probe):
            return format
    fields = f" and first record ({', '.join(probe.record)})" if probe.record else ""
    raise CorpusError(
        f"{path}: cannot tell the corpus format by its files{fields}; "
        f"name it: {', '.join(FORMATS)}."
    )
