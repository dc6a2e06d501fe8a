"""``keyphrase_ranker``: unsupervised keyphrases from candidates and a scorer."""

from pathlib import Path
from typing import Callable, Iterable, List, Optional, Sequence, Union

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import SimpleFrozenList

from ..candidates import Candidate, Suggester, collect_candidates
from ..keyphrase import KEY, Alignment, Record, register_extensions
from ..rankers import Ranker, Scores
from ..selection import Selection, Subphrases, select
from ..word_reader import get_word_reader, read_words, shared_words
from .annotate import (
    SCORE_WEIGHTS,
    Case,
    KeyphraseAnnotator,
    Scorer,
    Surfaces,
    check_case,
)

DEFAULT_CONFIG = {
    "candidates": {"@keyphrase_candidates": "spacy_keyphrase.Phrases.v1"},
    "ranker": {"@keyphrase_rankers": "spacy_keyphrase.Statistical.v1"},
    "top_n": 10,
    "min_score": None,
    "max_similarity": 1.0,
    "diversity": 0.0,
    "subphrases": "keep",
    "case": "surface",
    "key": KEY,
    "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
}


@Language.factory(
    "keyphrase_ranker",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase_ranker(
    nlp: Language,
    name: str,
    candidates: Suggester,
    ranker: Ranker,
    top_n: int,
    min_score: Optional[float],
    max_similarity: float,
    diversity: float,
    subphrases: Subphrases,
    case: Case,
    key: str,
    scorer: Optional[Scorer],
) -> "KeyphraseRanker":
    """Construct a KeyphraseRanker component.

    candidates (Suggester): Registered function from a doc to token offsets. What
        it needs of the doc (tags, for `NounPhrases`) must be set before.
    ranker (Ranker): Registered scorer of candidates.
    top_n (int): How many keyphrases at most; 0 for all.
    min_score (Optional[float]): Lowest score to keep; no limit by default.
    max_similarity (float): Above it the less good of two phrases of similar spelling
        is dropped (Dice coefficient of character trigrams). 1 keeps all.
    diversity (float): Weight of diversity against score, 0..1, in the choice of
        phrases (maximal marginal relevance).
    subphrases (str): "keep", or "drop" phrases contained in a better one or
        containing it.
    case (str): "surface" as in the document, or "lower".
    key (str): Key of the span group, and name of the `doc._` attribute.
    scorer (Optional[Scorer]): The scoring method.
    """
    selection = Selection(top_n, min_score, max_similarity, diversity, subphrases)
    return KeyphraseRanker(
        candidates,
        ranker,
        selection=selection,
        name=name,
        case=case,
        key=key,
        scorer=scorer,
    )


class KeyphraseRanker(KeyphraseAnnotator, Pipe):
    """Suggest candidates, score them, keep the best.

    candidates (Suggester): From a doc to token offsets.
    ranker (Ranker): Scorer of candidates.
    selection (Optional[Selection]): How many keyphrases are kept, and which; by
        default the best 10.
    name (str): Name of the component; the `source` of its keyphrases.
    case (str): "surface" or "lower".
    key (str): Key of the span group.
    scorer (Optional[Scorer]): The scoring method.
    """

    def __init__(
        self,
        candidates: Suggester,
        ranker: Ranker,
        *,
        selection: Optional[Selection] = None,
        name: str = "keyphrase_ranker",
        case: Case = "surface",
        key: str = KEY,
        scorer: Optional[Scorer] = None,
    ):
        check_case(case)
        register_extensions(key)
        self.name = name
        self.candidates = candidates
        self.ranker = ranker
        self.selection = selection or Selection()
        self.case = case
        self.key = key
        self.scorer = scorer

    def predict(self, docs: Sequence[Doc]) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are.

        docs (Sequence[Doc]): The docs.
        RETURNS (List[List[Record]]): Each doc's keyphrases, best first.
        """
        with shared_words(docs, read_words(docs) if docs else None):
            candidates = [self.suggest(doc) for doc in docs]
            scores = self.ranker(docs, candidates)
            return [self._select(*both) for both in zip(docs, candidates, scores)]

    def suggest(self, doc: Doc) -> List[Candidate]:
        """The candidates of a doc."""
        words = get_word_reader(doc.lang_).read(doc)
        return collect_candidates(doc, self.candidates(doc), words)

    def _select(
        self, doc: Doc, candidates: List[Candidate], scores: Scores
    ) -> List[Record]:
        forms = [candidate.form for candidate in candidates]
        chosen = select(forms, scores.phrases, self.selection)
        if not chosen:
            return []
        words = get_word_reader(doc.lang_).read(doc)
        alignment = Alignment(doc, words.stems, words.tokens)
        surfaces = Surfaces.of_doc(doc)
        records = []
        for i, score in chosen:
            candidate = candidates[i]
            mentions, mention_scores = candidate.mentions, None
            if scores.mentions is not None:
                mention_scores = scores.mentions[i]
            else:
                # The phrase may also stand where it is no candidate.
                found = alignment.find_stems(candidate.stems)
                mentions = found if len(found) >= len(mentions) else mentions
            records.append(
                Record(
                    text=self._text(surfaces, mentions),
                    form=candidate.form,
                    score=score,
                    mentions=mentions,
                    source=self.name,
                    mention_scores=mention_scores,
                )
            )
        return records

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
    ) -> None:
        """There is nothing to initialize."""

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Nothing: all settings are in the pipeline's config."""
        return b""

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "KeyphraseRanker":
        """The counterpart of `to_bytes`."""
        return self

    def to_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> None:
        """Nothing: all settings are in the pipeline's config."""

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "KeyphraseRanker":
        """The counterpart of `to_disk`."""
        return self
