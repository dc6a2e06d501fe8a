"""What every command does about errors, interrupts and messages.

Exit codes: 0 all is well, also when the reader of a pipe has had enough; 1 an
error in data or processing; 2 wrong usage; 130 interrupted.
"""

import functools
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import Any, Callable, Iterator, ParamSpec

import typer

from ..corpora import ReadReport

P = ParamSpec("P")

DEBUG = "SPACY_KEYPHRASE_DEBUG"
_EXPECTED = (ValueError, OSError, ImportError, KeyError)


def say(message: str) -> None:
    """A message to the user, on standard error."""
    print(message, file=sys.stderr, flush=True)


def counted(n: int, what: str) -> str:
    """A number of things: "1 part", "2 parts"."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def say_skipped(report: ReadReport) -> None:
    """Tell what was skipped, if anything."""
    if report.skipped:
        say(f"Skipped {report.skipped} malformed records, such as:")
        for message in report.messages[:3]:
            say(f"  {message}")


def command(function: Callable[P, None]) -> Callable[P, None]:
    """Make a function a command that ends with a message and an exit code, and
    never with a traceback; a decorator."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with _warnings_as_messages():
            try:
                function(*args, **kwargs)
                sys.stdout.flush()
            except (typer.Exit, typer.Abort, typer.BadParameter):
                raise
            except KeyboardInterrupt:
                say("Interrupted.")
                raise typer.Exit(130) from None
            except BrokenPipeError:
                # Python flushes standard output once more when it ends.
                _silence_stdout()
                raise typer.Exit(0) from None
            except Exception as error:
                if os.environ.get(DEBUG):
                    raise
                say(f"Error: {describe(error)}")
                raise typer.Exit(1) from None

    return run


def describe(error: Exception) -> str:
    """What went wrong, in words."""
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if "[E871]" in str(error):
        # spaCy passes a worker's whole traceback on; its last line says it.
        return str(error).strip().splitlines()[-1]
    if isinstance(error, _EXPECTED):
        return str(error) or type(error).__name__
    return f"{type(error).__name__}: {error} (set {DEBUG}=1 for the traceback)"


def _silence_stdout() -> None:
    with suppress(OSError, ValueError):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _warnings_as_messages() -> Iterator[None]:
    def show(message: Any, *rest: Any, **more: Any) -> None:
        say(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
