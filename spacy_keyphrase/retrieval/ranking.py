"""Documents that were retrieved, ranked again by their keyphrases.

Three scores are added up, each in standard deviations over the documents: that of the
retriever; how far the keyphrases of a document have the words of the query; and how far
they have the words of the keyphrases of those documents that came first. That is the
feedback of Rocchio and of relevance models, with keyphrases in the place of all words.
"""

import math
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Sequence, Tuple

import numpy

from ..lexicon import get_lexicon
from ..normalize import get_normalizer

# Of the documents that tell how far apart scores are.
_SPREAD = 50
Weights = Dict[str, float]


@dataclass(frozen=True)
class RankSettings:
    """How much keyphrases count. Defaults were chosen on claims of SciFact.

    match (float): Weight of the words of the query in a document's keyphrases.
    feedback (float): Weight of the words of the keyphrases of the first documents.
    feedback_documents (int): How many are the first.
    top_n (int): Keyphrases of a document that are looked at.
    """

    match: float = 0.2
    feedback: float = 0.5
    feedback_documents: int = 10
    top_n: int = 20

    def __post_init__(self) -> None:
        for name in ("match", "feedback", "feedback_documents", "top_n"):
            if getattr(self, name) < 0:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it must be 0 or more."
                )


class Ranked(NamedTuple):
    """A document of a ranking.

    number (int): Its number among those that were given.
    score (float): The sum of its scores, in standard deviations.
    """

    number: int
    score: float


def rank(
    query: str,
    scores: Sequence[float],
    phrases: Sequence[Sequence[Tuple[str, float]]],
    settings: RankSettings,
    lang: str = "en",
) -> List[Ranked]:
    """Rank documents again.

    query (str): What was asked.
    scores (Sequence[float]): Of each document, by the retriever, higher is better.
    phrases (Sequence[Sequence[Tuple[str, float]]]): Of each its keyphrases and their
        scores, the best first.
    settings (RankSettings): How much keyphrases count.
    lang (str): Language of the stems.
    RETURNS (List[Ranked]): The documents, the best first; of equal ones the first.
    RAISES: ValueError where scores are no numbers, or not as many as documents.
    """
    if len(scores) != len(phrases):
        raise ValueError(f"There are {len(scores)} scores of {len(phrases)} documents.")
    given = numpy.asarray(scores, dtype=float)
    if not numpy.isfinite(given).all():
        raise ValueError("The scores of documents must be numbers.")
    if not len(given):
        return []
    documents = [weigh(own[: settings.top_n], lang) for own in phrases]
    total = _standard(given)
    if settings.match:
        asked = dict.fromkeys(get_normalizer(lang).stems(query))
        found = [sum(own.get(stem, 0.0) for stem in asked) for own in documents]
        total = total + settings.match * _standard(numpy.asarray(found))
    if settings.feedback and settings.feedback_documents:
        likeness = _feedback(given, documents, settings.feedback_documents)
        total = total + settings.feedback * _standard(likeness)
    order = numpy.argsort(-total, kind="stable")
    return [Ranked(int(i), float(total[i])) for i in order]


def weigh(phrases: Sequence[Tuple[str, float]], lang: str) -> Weights:
    """How much stems say of a document: the share that their best keyphrase has of the
    score of the best, times how rare they are.

    phrases (Sequence[Tuple[str, float]]): Keyphrases and their scores, best first.
        Where there are no scores, the first has 1 and the last next to nothing.
    """
    normalizer, lexicon = get_normalizer(lang), get_lexicon(lang)
    best = max((score for _, score in phrases), default=0.0)
    weights: Weights = {}
    for i, (text, score) in enumerate(phrases):
        share = score / best if best > 0 else 1 - i / len(phrases)
        for stem in normalizer.stems(text):
            weight = max(share, 0.0) * lexicon.idf.get(stem, lexicon.rare)
            weights[stem] = max(weights.get(stem, 0.0), weight)
    return weights


def share(scores: numpy.ndarray, n: int) -> List[Tuple[int, float]]:
    """How much each of the first documents says: the softmax of their scores.

    scores (ndarray): Of all documents that were retrieved.
    n (int): How many are the first.
    RETURNS (List[Tuple[int, float]]): Their numbers and shares, the best first.
    """
    order = numpy.argsort(-scores, kind="stable")
    first = order[:n]
    if not len(first):
        return []
    spread = scores[order[:_SPREAD]].std()
    parts = numpy.exp((scores[first] - scores[first[0]]) / (spread or 1.0))
    return [(int(i), float(part)) for i, part in zip(first, parts / parts.sum())]


def _feedback(
    scores: numpy.ndarray, documents: Sequence[Weights], n: int
) -> numpy.ndarray:
    """The cosines of documents to the mean of the first, each weighed by its score."""
    unit = [_unit(own) for own in documents]
    centre: Weights = {}
    for i, part in share(scores, n):
        for stem, weight in unit[i].items():
            centre[stem] = centre.get(stem, 0.0) + part * weight
    return numpy.asarray(
        [sum(w * centre.get(stem, 0.0) for stem, w in own.items()) for own in unit]
    )


def _unit(weights: Weights) -> Weights:
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {stem: w / length for stem, w in weights.items()} if length else {}


def _standard(values: numpy.ndarray) -> numpy.ndarray:
    """In standard deviations from the mean; all 0 where they are equal."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else values * 0.0
