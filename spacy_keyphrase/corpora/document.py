"""One document of a keyphrase corpus, whatever format it was read from."""

from dataclasses import dataclass, field
from typing import Any, Dict, List

_SENTENCE_MARKS = (".", "?", "!", "…", "。", "？", "！", "؟", "।")


@dataclass(frozen=True)
class KeyphraseDocument:
    """A text and its gold keyphrases.

    id (str): Identifier, unique in its corpus.
    text (str): Title and body, joined.
    title (str): The title alone, empty where the corpus has none.
    keyphrases (List[str]): Gold phrases in the order of the corpus.
    lang (str): Language code.
    extra (Dict[str, Any]): Whatever else the record holds.
    """

    id: str
    text: str
    title: str = ""
    keyphrases: List[str] = field(default_factory=list)
    lang: str = "en"
    extra: Dict[str, Any] = field(default_factory=dict)

    @property
    def title_length(self) -> int:
        """Characters of `text` that are the title; 0 where it is not in it."""
        return len(self.title) if self.text.startswith(self.title) else 0

    @property
    def sections(self) -> List[str]:
        """Title and body apart, for matching that must not cross from one to
        the other; one section where the text does not start with a title."""
        parts = (self.text[: self.title_length], self.text[self.title_length :])
        return [part for part in parts if part.strip()]


def join_title(title: str, body: str) -> str:
    """Title and body as one text, with a full stop between them if needed."""
    title, body = title.strip(), body.strip()
    if not title or not body:
        return title or body
    return f"{title}{' ' if title.endswith(_SENTENCE_MARKS) else '. '}{body}"
