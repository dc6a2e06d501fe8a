"""RankKPE: phrases of a document against each other."""

from typing import Tuple

import numpy

from ..mentions import Mentions, best_mentions
from .base import Gold, Loss


class RankHead:
    """Pairwise ranking of phrases (the JointKPE paper, section "RankKPE").

    Output of the network: one score for each mention, float of shape (mentions, 1).
    A phrase has the score of its best mention. Loss: hinge of margin 1 between every
    gold and every other phrase of a document, averaged over the pairs, then over the
    documents that have such pairs.
    """

    probabilities = False

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        return output[:, 0]

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        best = best_mentions(output[:, 0], mentions)
        value, d_phrases = hinge(output[best, 0], mentions.phrase_docs, gold.phrases)
        gradient = numpy.zeros_like(output)
        gradient[best, 0] = d_phrases
        return Loss(value, gradient, {})


def hinge(
    scores: numpy.ndarray, docs: numpy.ndarray, gold: numpy.ndarray
) -> Tuple[float, numpy.ndarray]:
    """Mean pairwise hinge loss of margin 1, and its gradient by the scores.

    scores (ndarray): Float of shape (phrases,).
    docs (ndarray): The document of each phrase, ascending.
    gold (ndarray): Whether each phrase is gold, bool.
    """
    gradient = numpy.zeros_like(scores)
    values = []
    for rows in numpy.split(
        numpy.arange(len(docs)), numpy.flatnonzero(numpy.diff(docs)) + 1
    ):
        positive, negative = rows[gold[rows]], rows[~gold[rows]]
        pairs = len(positive) * len(negative)
        if not pairs:
            continue
        margins = 1 - scores[positive][:, None] + scores[negative]
        violated = margins > 0
        values.append(float(margins[violated].sum()) / pairs)
        gradient[positive] = -violated.sum(axis=1) / pairs
        gradient[negative] = violated.sum(axis=0) / pairs
    if not values:
        return 0.0, gradient
    return sum(values) / len(values), gradient / len(values)
