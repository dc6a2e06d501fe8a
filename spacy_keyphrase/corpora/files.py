"""Files of a corpus: walked in a fixed order, read line by line, gzip or not."""

import gzip
import zlib
from pathlib import Path
from typing import IO, Iterable, Iterator, List, Optional, Sequence, Tuple, cast

from .context import ReadContext

Line = Tuple[int, Optional[str]]

_NOT_UTF8 = "not valid UTF-8 ({error}); convert the file to UTF-8"
_DAMAGED = "damaged or truncated gzip data ({error}); fetch the file again"
_BOM = "\ufeff"


def suffix_of(path: Path) -> str:
    """The suffix that tells the format: of "train.jsonl.gz" it is ".jsonl"."""
    name = path.name[:-3] if path.name.endswith(".gz") else path.name
    return Path(name).suffix.lower()


def stem_of(path: Path) -> str:
    """The file name without ".gz" and without its suffix."""
    name = path.name[:-3] if path.name.endswith(".gz") else path.name
    return Path(name).stem


def walk(path: Path, suffixes: Optional[Sequence[str]] = None) -> List[Path]:
    """The files to read, sorted: the path itself, or those below a folder.

    path (Path): A file, which is taken whatever its suffix, or a folder.
    suffixes (Optional[Sequence[str]]): Suffixes of the files to take from a
        folder; None takes all. Hidden files and folders are left out.
    """
    if not path.is_dir():
        return [path]
    return sorted(
        file
        for file in path.rglob("*")
        if (suffixes is None or suffix_of(file) in suffixes)
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and file.is_file()
    )


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def read_lines(path: Path, context: ReadContext) -> Iterator[Line]:
    """The lines of a file: see `decode_lines`."""
    with _open(path) as file:
        yield from decode_lines(file, str(path), context)


def decode_lines(
    lines: Iterable[bytes], name: str, context: ReadContext
) -> Iterator[Line]:
    """Number and text of each line, without its end.

    The lines end at "\\n" or "\\r\\n" only: JSON strings and abstracts hold
    Unicode's other line separators.

    lines (Iterable[bytes]): An open file.
    name (str): What messages call it.
    context (ReadContext): Takes the lines that cannot be decoded.
    YIELDS (Line): The text is None for a line that cannot be decoded and was
        skipped, so that two files stay in step.
    """
    number = 0
    try:
        for number, raw in enumerate(lines, start=1):
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                context.malformed(f"{name}:{number}", _NOT_UTF8.format(error=error))
                yield number, None
                continue
            if number == 1:
                line = line.removeprefix(_BOM)
            yield number, line.rstrip("\r\n")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        context.malformed(f"{name}:{number + 1}", _DAMAGED.format(error=error))


def read_text(path: Path, context: ReadContext) -> Optional[str]:
    """A whole file, or None where it cannot be decoded and was skipped."""
    with _open(path) as file:
        try:
            return file.read().decode("utf-8").removeprefix(_BOM)
        except UnicodeDecodeError as error:
            context.malformed(str(path), _NOT_UTF8.format(error=error))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            context.malformed(str(path), _DAMAGED.format(error=error))
    return None
