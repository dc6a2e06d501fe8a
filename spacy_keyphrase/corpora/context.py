"""What happens to a malformed line: it stops the reading, or is counted."""

from dataclasses import dataclass, field
from typing import List, Literal, Optional, get_args

OnError = Literal["raise", "skip"]


class CorpusError(ValueError):
    """A corpus cannot be read; the message names the file and the line."""


class MalformedError(ValueError):
    """A record is not what its format says; readers add file and line."""


@dataclass
class ReadReport:
    """What a reading came to; give one to `read_corpus` and look at it after.

    documents (int): Documents read.
    skipped (int): Malformed lines or files that were left out.
    messages (List[str]): The first of them, with file and line.
    max_messages (int): How many messages are kept.
    """

    documents: int = 0
    skipped: int = 0
    messages: List[str] = field(default_factory=list)
    max_messages: int = 10


@dataclass
class ReadContext:
    """What a format's reader is given beside the path.

    lang (str): Language of records that do not say theirs.
    on_error (OnError): "raise" or "skip".
    report (ReadReport): Where skipped records are counted.
    """

    lang: str = "en"
    on_error: OnError = "raise"
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        allowed = get_args(OnError)
        if self.on_error not in allowed:
            raise ValueError(
                f"on_error is {self.on_error!r}; allowed are: {', '.join(allowed)}."
            )

    def malformed(self, place: str, message: str) -> None:
        """Raise, or count and go on.

        place (str): File and line, as "corpus.jsonl:12".
        message (str): What is wrong, and the remedy.
        """
        if self.on_error == "raise":
            raise CorpusError(f"{place}: {message}")
        self.report.skipped += 1
        if len(self.report.messages) < self.report.max_messages:
            self.report.messages.append(f"{place}: {message}")


def make_context(
    lang: str, on_error: OnError, report: Optional[ReadReport]
) -> ReadContext:
    """A context that counts into the given report, or into a new one."""
    return ReadContext(lang, on_error, ReadReport() if report is None else report)
