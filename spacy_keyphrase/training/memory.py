"""Memory that was freed goes back to the system."""

import ctypes
import sys
from functools import cache
from typing import Any, Optional


@cache
def _find_trim() -> Optional[Any]:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def trim_memory() -> None:
    """Give freed memory back, where the C library can be asked to (glibc). Batches of
    ever other sizes leave gaps in it: a run of hours held ten times what it used."""
    trim = _find_trim()
    if trim is not None:
        trim(0)
