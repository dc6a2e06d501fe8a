"""RankKPE: phrases of a document against each other."""

from typing import Callable, Dict, Iterator, Sequence, Tuple

import numpy

from ..mentions import Mentions, best_mentions
from .base import Gold, Loss


class RankHead:
    """Pairwise ranking of phrases (the JointKPE paper, section "RankKPE").

    Output of the network: one score for each mention, float of shape (mentions, 1).
    A phrase has the score of its best mention.

    loss (str): Name of a loss in `LOSSES`: "hinge" as in the paper, or "softmax".
    """

    probabilities = False

    def __init__(self, loss: str = "hinge") -> None:
        if loss not in LOSSES:
            raise ValueError(
                f"There is no ranking loss {loss!r}; choose from {sorted(LOSSES)}."
            )
        self._loss = LOSSES[loss]

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        return output[:, 0]

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        best = best_mentions(output[:, 0], mentions)
        scores = output[best, 0]
        value, d_phrases = self._loss(scores, mentions.phrase_docs, gold.phrases)
        gradient = numpy.zeros_like(output)
        gradient[best, 0] = d_phrases
        return Loss(value, gradient, {})


def hinge(
    scores: numpy.ndarray, docs: numpy.ndarray, gold: numpy.ndarray
) -> Tuple[float, numpy.ndarray]:
    """Hinge loss of margin 1 between every gold and every other phrase of a document
    (the JointKPE paper, section "RankKPE"), averaged over the pairs, then over the
    documents that have such pairs.

    scores (ndarray): Float of shape (phrases,).
    docs (ndarray): The document of each phrase, ascending.
    gold (ndarray): Whether each phrase is gold, bool.
    RETURNS (Tuple[float, ndarray]): The loss, and its gradient by the scores.
    """
    gradient = numpy.zeros_like(scores)
    values = []
    for positive, negative in _groups(docs, gold):
        pairs = len(positive) * len(negative)
        margins = 1 - scores[positive][:, None] + scores[negative]
        violated = margins > 0
        values.append(float(margins[violated].sum()) / pairs)
        gradient[positive] = -violated.sum(axis=1) / pairs
        gradient[negative] = violated.sum(axis=0) / pairs
    return _average(values, gradient)


def softmax_loss(
    scores: numpy.ndarray, docs: numpy.ndarray, gold: numpy.ndarray
) -> Tuple[float, numpy.ndarray]:
    """Cross entropy of choosing a gold phrase among it and all that are not gold,
    averaged over the gold phrases of a document, then over the documents that have
    phrases of both kinds.

    The hinge counts every pair alike, and a gold phrase in the last place has most of
    them; here a gold phrase that is out of reach weighs no more than 1, and what
    counts is the other phrases at the top (Bruch et al. 2019, "An Analysis of the
    Softmax Cross Entropy Loss for Learning-to-Rank with Binary Relevance").

    scores (ndarray): Float of shape (phrases,).
    docs (ndarray): The document of each phrase, ascending.
    gold (ndarray): Whether each phrase is gold, bool.
    RETURNS (Tuple[float, ndarray]): The loss, and its gradient by the scores.
    """
    gradient = numpy.zeros_like(scores)
    values = []
    for positive, negative in _groups(docs, gold):
        others = scores[negative].astype("f8")
        high = others.max()
        of_others = high + numpy.log(numpy.exp(others - high).sum())
        own = scores[positive].astype("f8")
        totals = numpy.logaddexp(own, of_others)
        values.append(float((totals - own).mean()))
        # The probability of each gold phrase not to be chosen.
        missed = numpy.exp(of_others - totals) / len(positive)
        gradient[positive] = -missed
        gradient[negative] = numpy.exp(others - of_others) * missed.sum()
    return _average(values, gradient)


LossFunction = Callable[
    [numpy.ndarray, numpy.ndarray, numpy.ndarray], Tuple[float, numpy.ndarray]
]
LOSSES: Dict[str, LossFunction] = {"hinge": hinge, "softmax": softmax_loss}


def _groups(
    docs: numpy.ndarray, gold: numpy.ndarray
) -> Iterator[Tuple[numpy.ndarray, numpy.ndarray]]:
    """The rows of the gold and of the other phrases of each document with both."""
    changes = numpy.flatnonzero(numpy.diff(docs)) + 1
    for rows in numpy.split(numpy.arange(len(docs)), changes):
        positive, negative = rows[gold[rows]], rows[~gold[rows]]
        if len(positive) and len(negative):
            yield positive, negative


def _average(
    values: Sequence[float], gradient: numpy.ndarray
) -> Tuple[float, numpy.ndarray]:
    """The mean over documents."""
    n = max(len(values), 1)
    return sum(values) / n, gradient / n
