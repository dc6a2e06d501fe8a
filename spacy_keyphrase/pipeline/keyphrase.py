"""``keyphrase``: good keyphrases at once, with nothing to choose or download."""

from typing import Optional

from spacy.language import Language

from ..candidates import make_phrases
from ..keyphrase import KEY
from ..rankers.statistical import make_statistical
from ..selection import Selection, Subphrases
from .annotate import SCORE_WEIGHTS, Case, Scorer
from .ranker import KeyphraseRanker

DEFAULT_CONFIG = {
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
    "keyphrase",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase(
    nlp: Language,
    name: str,
    top_n: int,
    min_score: Optional[float],
    max_similarity: float,
    diversity: float,
    subphrases: Subphrases,
    case: Case,
    key: str,
    scorer: Optional[Scorer],
) -> KeyphraseRanker:
    """Construct the default keyphrase component of a language.

    Candidates are noun phrases where a component before it has tagged the docs,
    stretches between stop words otherwise; the statistical ranker scores them.

    top_n (int): How many keyphrases at most; 0 for all.
    min_score (Optional[float]): Lowest score to keep, 0..1; no limit by default.
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
    return KeyphraseRanker(
        make_phrases(subphrases=True),
        make_statistical(),
        selection=Selection(top_n, min_score, max_similarity, diversity, subphrases),
        name=name,
        case=case,
        key=key,
        scorer=scorer,
    )
