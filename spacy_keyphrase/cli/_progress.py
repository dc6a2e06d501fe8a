"""A progress bar on standard error, where somebody is looking and it takes long."""

import sys
import time
from typing import Any, Iterable, Iterator, Optional, TypeVar

ItemT = TypeVar("ItemT")

_PATIENCE = 1.0  # seconds


class Progress:
    """A bar that shows after a second, and only on a terminal.

    to_file (bool): Whether the output goes to a file: between lines on the same
        terminal a bar would be in the way.
    total (Optional[int]): Number of documents, where known.
    """

    def __init__(self, to_file: bool = True, total: Optional[int] = None):
        self.active = sys.stderr.isatty() and (to_file or not sys.stdout.isatty())
        self.total = total
        self.started = time.monotonic()
        self.n = 0
        self.bar: Any = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def update(self, n: int) -> None:
        """Say that n documents are done."""
        step, self.n = n - self.n, n
        if not self.active:
            return
        if self.bar is None and time.monotonic() - self.started > _PATIENCE:
            from tqdm import tqdm

            self.bar = tqdm(total=self.total, unit=" docs", file=sys.stderr)
        if self.bar is not None:
            self.bar.update(n if self.bar.n == 0 else step)

    def over(self, items: Iterable[ItemT]) -> Iterator[ItemT]:
        """Pass items through and count them."""
        for n, item in enumerate(items, start=1):
            yield item
            self.update(n)
