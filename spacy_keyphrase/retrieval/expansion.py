"""Keyphrases to expand a query with: feedback from what it has found."""

from typing import Dict, List, Sequence, Tuple

import numpy

from ..lexicon import get_lexicon
from ..normalize import get_normalizer
from .ranking import share


def feedback_phrases(
    query: str,
    scores: Sequence[float],
    phrases: Sequence[Sequence[Tuple[str, float]]],
    k: int,
    lang: str = "en",
) -> List[str]:
    """The keyphrases that the first documents have most: each has its share of the best
    score in its document, times that of the document, times how rare its words are on
    the mean.

    query (str): What was asked. Keyphrases whose words it has all are left out.
    scores (Sequence[float]): Of each document, by the retriever.
    phrases (Sequence[Sequence[Tuple[str, float]]]): Of each its keyphrases and their
        scores, the best first.
    k (int): How many are wanted.
    lang (str): Language of the stems.
    RETURNS (List[str]): Keyphrases, the best first.
    """
    normalizer, lexicon = get_normalizer(lang), get_lexicon(lang)
    asked = set(normalizer.stems(query))
    weights: Dict[Tuple[str, ...], float] = {}
    texts: Dict[Tuple[str, ...], str] = {}
    for i, part in share(numpy.asarray(scores, dtype=float), len(scores)):
        own = phrases[i]
        best = max((score for _, score in own), default=0.0)
        for j, (text, score) in enumerate(own):
            stems = normalizer.stems(text)
            if not stems or asked.issuperset(stems):
                continue
            rare = sum(lexicon.idf.get(s, lexicon.rare) for s in stems) / len(stems)
            value = score / best if best > 0 else 1 - j / len(own)
            texts.setdefault(stems, text)
            weights[stems] = weights.get(stems, 0.0) + part * max(value, 0.0) * rare
    order = sorted(weights, key=lambda stems: -weights[stems])
    return [texts[stems] for stems in order[:k]]
