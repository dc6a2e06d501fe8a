"""Python in a process of its own: fresh imports, and a hang is a failure."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Union

import pytest


def needs_entry_points() -> None:
    """Skip where the package is only on the path: spaCy cannot know of it."""
    try:
        groups = {entry.group for entry in distribution("spacy-keyphrase").entry_points}
    except PackageNotFoundError:
        groups = set()
    if "spacy_factories" not in groups:
        pytest.skip("spacy-keyphrase is not installed: there are no entry points")


def run_python(
    program: Union[str, Path], *args: Any, cwd: Any = None, timeout: float = 120
) -> str:
    """Run code or a file and return what it prints; a warning in it is an error."""
    needs_entry_points()
    # Since Python 3.12 forking with threads, as `nlp.pipe(n_process=2)` does, warns.
    flags = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    flags += [str(program)] if isinstance(program, Path) else ["-c", program]
    try:
        done = subprocess.run(
            [sys.executable, *flags, *map(str, args)],
            capture_output=True,
            cwd=cwd,
            timeout=timeout,
            encoding="utf8",
        )
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"no end after {timeout} s: {error.stdout!r} {error.stderr!r}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
