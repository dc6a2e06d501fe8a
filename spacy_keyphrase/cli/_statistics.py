"""Figures of a corpus, gathered one document at a time."""

from collections import Counter
from typing import Any, Dict, List, Optional, Set, Tuple
from typing import Counter as Counts

from spacy.tokens import Doc

from ..candidates import Suggester, collect_candidates
from ..corpora import KeyphraseDocument
from ..keyphrase import Alignment
from ..normalize import contains_form, get_normalizer
from ..registry import get_registered

LIMITS = (1, 2, 3, 4, 5)
FIGURES = (
    "documents",
    "empty_documents",
    "documents_without_gold",
    "repeated_ids",
    "repeated_texts",
    "tokens",
    "keyphrases",
    "repeated_keyphrases",
    "present",
    "misaligned",
    "absent",
)
_EXAMPLES = 5


class CorpusStatistics:
    """Documents, gold keyphrases, and what is odd about them.

    lang (str): Language of the stems.
    """

    def __init__(self, lang: str):
        self.normalizer = get_normalizer(lang)
        self.counts: Counts[str] = Counter()
        self.lengths: Counts[int] = Counter()
        self.max_tokens = 0
        self.examples: List[str] = []
        self.ids: Set[int] = set()
        self.texts: Set[int] = set()

    def add(self, document: KeyphraseDocument, doc: Doc) -> None:
        """Count a document and its tokens."""
        counts = self.counts
        counts["documents"] += 1
        counts["tokens"] += len(doc)
        self.max_tokens = max(self.max_tokens, len(doc))
        counts["empty_documents"] += not document.text.strip()
        counts["documents_without_gold"] += not document.keyphrases
        # Only hashes are kept: memory grows by a few bytes a document.
        for seen, value, what in (
            (self.ids, document.id, "repeated_ids"),
            (self.texts, " ".join(document.text.lower().split()), "repeated_texts"),
        ):
            counts[what] += hash(value) in seen
            seen.add(hash(value))
        self._add_gold(document, doc)

    def _add_gold(self, document: KeyphraseDocument, doc: Doc) -> None:
        text = self.normalizer.form(document.text)
        alignment = Alignment(doc)
        forms: Set[str] = set()
        for phrase in document.keyphrases:
            form = self.normalizer.form(phrase)
            self.counts["keyphrases"] += 1
            if form in forms:
                self.counts["repeated_keyphrases"] += 1
                continue
            forms.add(form)
            self.lengths[len(form.split())] += 1
            if alignment.find(phrase):
                self.counts["present"] += 1
            elif contains_form(form, text):
                self.counts["misaligned"] += 1
                if len(self.examples) < _EXAMPLES:
                    self.examples.append(f"{document.id}: {phrase}")
            else:
                self.counts["absent"] += 1

    def to_dict(self) -> Dict[str, Any]:
        """The figures as JSON-able data."""
        data: Dict[str, Any] = {name: self.counts[name] for name in FIGURES}
        data["max_tokens"] = self.max_tokens
        data["words_per_keyphrase"] = dict(sorted(self.lengths.items()))
        data["misaligned_examples"] = self.examples
        return data


class SuggesterRecall:
    """How many gold keyphrases a candidate suggester finds, and at what price.

    name (str): Its registered name.
    suggester (Suggester): The suggester.
    """

    def __init__(self, name: str, suggester: Suggester):
        self.name = name
        self.suggester = suggester
        self.error = ""
        self.documents = 0
        self.gold = 0
        self.candidates = 0
        # By number of words: what is found up to a limit is the sum up to it.
        self.found: Counts[int] = Counter()

    def add(self, document: KeyphraseDocument, doc: Doc) -> None:
        """Suggest for a document. Gold counts where it is aligned to tokens."""
        if self.error:
            return
        try:
            suggested = collect_candidates(doc, self.suggester(doc))
        except Exception as error:
            self.error = str(error)
            return
        stems_of = get_normalizer(doc.lang_).stems
        alignment = Alignment(doc)
        gold = {stems_of(p) for p in document.keyphrases if alignment.find(p)} - {()}
        self.documents += 1
        self.gold += len(gold)
        self.candidates += len(suggested)
        for candidate in suggested:
            if candidate.stems in gold:
                self.found[len(candidate.stems)] += 1

    def recall(self, limit: Optional[int] = None) -> Optional[float]:
        """The share of present gold among candidates of at most so many words."""
        if not self.gold:
            return None
        found = sum(
            n for words, n in self.found.items() if limit is None or words <= limit
        )
        return found / self.gold

    def to_dict(self) -> Dict[str, Any]:
        """The figures as JSON-able data."""
        if self.error:
            return {"suggester": self.name, "error": self.error}
        recalls = {f"<={limit}": self.recall(limit) for limit in LIMITS}
        return {
            "suggester": self.name,
            "documents": self.documents,
            "candidates": self.candidates / max(1, self.documents),
            "recall": {**recalls, "all": self.recall()},
        }


def default_suggesters() -> List[SuggesterRecall]:
    """All registered suggesters that can be made with their default settings."""
    made: List[SuggesterRecall] = []
    registered: List[Tuple[str, Any]] = sorted(
        get_registered("keyphrase_candidates").items()
    )
    for name, make in registered:
        try:
            made.append(SuggesterRecall(name, make()))
        except (TypeError, ValueError):  # it needs settings, such as a phrase list
            continue
    return made
