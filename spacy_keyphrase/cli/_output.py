"""Where a command writes: standard output, or a file that is whole or not there."""

import gzip
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Callable, Iterator, Optional, cast

from ._run import say

Write = Callable[[str], None]


@contextmanager
def open_output(path: Optional[Path]) -> Iterator[Write]:
    """A function that writes text as UTF-8.

    path (Optional[Path]): The file; None for standard output. It is written
        under the name of ".partial" and renamed when all is well; after an error
        or Ctrl-C the partial file stays, with whole records. ".gz" is compressed.
    YIELDS (Callable[[str], None]): Give it whole records.
    """
    if path is None:
        yield _write_stdout
        sys.stdout.flush()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    written = 0
    opened = gzip.open if path.suffix == ".gz" else open
    with cast(IO[bytes], opened(partial, "wb")) as file:

        def write(text: str) -> None:
            nonlocal written
            file.write(text.encode("utf-8"))
            written += 1

        try:
            yield write
        except BaseException:
            file.close()
            if written:
                say(f"What was done before is in {partial}.")
            else:
                partial.unlink()
            raise
    os.replace(partial, path)


def _write_stdout(text: str) -> None:
    # UTF-8 whatever the locale: it is read by programs.
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    if sys.stdout.isatty():
        sys.stdout.buffer.flush()
