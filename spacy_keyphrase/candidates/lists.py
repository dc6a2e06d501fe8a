"""A user's own phrase list."""

from pathlib import Path
from typing import List, Optional

from spacy.tokens import Doc

from ..keyphrase import Alignment
from ..normalize import get_normalizer
from ..registry import registry
from .base import Offsets, Suggester


@registry.keyphrase_candidates("spacy_keyphrase.PhraseList.v1")
def make_phrase_list(
    phrases: Optional[List[str]] = None, path: Optional[Path] = None
) -> Suggester:
    """Every occurrence, by normal form, of the phrases of a list.

    phrases (Optional[List[str]]): The phrases.
    path (Optional[Path]): A UTF-8 text file with one phrase a line, read when the
        pipeline is built.
    RETURNS (Suggester): From a doc to token offsets. Its cost grows with the
        length of the document, not with that of the list.
    """
    known = list(phrases or [])
    if path is not None:
        if not Path(path).is_file():
            raise ValueError(f"There is no phrase list {path}.")
        known += Path(path).read_text(encoding="utf8").splitlines()
    known = [phrase for phrase in known if phrase.strip()]
    if not known:
        raise ValueError("spacy_keyphrase.PhraseList.v1 needs `phrases` or a `path`.")
    return _PhraseList(known)


class _PhraseList:
    def __init__(self, phrases: List[str]):
        self.phrases = phrases
        self._index: dict[str, dict[str, list[str]]] = {}

    def __call__(self, doc: Doc) -> Offsets:
        by_first = self._index.get(doc.lang_)
        if by_first is None:
            stems_of = get_normalizer(doc.lang_).stems
            by_first = self._index[doc.lang_] = {}
            for phrase in self.phrases:
                stems = stems_of(phrase)
                by_first.setdefault(stems[0] if stems else "", []).append(phrase)
        alignment = Alignment(doc)
        found: Offsets = []
        for stem in ["", *alignment.positions]:
            for phrase in by_first.get(stem, ()):
                found.extend(alignment.find(phrase))
        return sorted(set(found))
