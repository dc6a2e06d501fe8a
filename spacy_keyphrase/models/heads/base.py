"""What a head is: how the output of a network becomes scores, and how it is taught."""

from dataclasses import dataclass
from typing import Dict, List, Optional, Protocol, Tuple

import numpy

from ..mentions import Mentions

# The label of a token of a doc without annotation.
UNKNOWN = -1


@dataclass
class Gold:
    """What a batch of docs should have given.

    phrases (ndarray): Whether each phrase of the mentions is a gold keyphrase, bool
        of shape (phrases,).
    mentions (ndarray): Whether each mention is an annotated one, bool of shape
        (mentions,).
    spans (List[Optional[List[Tuple[int, int]]]]): For each doc the annotated
        mentions, also those that are no candidates: token offsets (start, end) in the
        doc, each once. None where nothing is known of the doc.
    """

    phrases: numpy.ndarray
    mentions: numpy.ndarray
    spans: List[Optional[List[Tuple[int, int]]]]


@dataclass
class Loss:
    """The loss of a batch.

    value (float): The total, averaged as the head's docstring says.
    gradient (ndarray): Of the total by the output of the network, in its shape.
    parts (Dict[str, float]): What the total is made of, where it has parts.
    """

    value: float
    gradient: numpy.ndarray
    parts: Dict[str, float]


class Head(Protocol):
    """Turns the output of a network into mention scores, and into a loss.

    probabilities (bool): Whether the scores are between 0 and 1 as they are.
    """

    probabilities: bool

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        """Score mentions.

        output (ndarray): What the network gave.
        mentions (Mentions): The mentions that it was given.
        RETURNS (ndarray): Float of shape (mentions,), higher is better.
        """
        ...

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        """Compare with the gold.

        output (ndarray): What the network gave.
        mentions (Mentions): The mentions that it was given.
        gold (Gold): What it should have found.
        """
        ...


def softmax(logits: numpy.ndarray) -> numpy.ndarray:
    """Softmax over the last axis."""
    shifted = numpy.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities: numpy.ndarray = shifted / shifted.sum(axis=-1, keepdims=True)
    return probabilities


def cross_entropy(
    logits: numpy.ndarray, labels: numpy.ndarray
) -> Tuple[float, numpy.ndarray]:
    """Mean cross entropy and its gradient by the logits.

    logits (ndarray): Float of shape (n, classes).
    labels (ndarray): Int of shape (n,); rows with `UNKNOWN` do not count.
    """
    known = labels != UNKNOWN
    if not known.any():
        return 0.0, numpy.zeros_like(logits)
    if not known.all():
        gradient = numpy.zeros_like(logits)
        value, gradient[known] = cross_entropy(logits[known], labels[known])
        return value, gradient
    rows = numpy.arange(len(labels))
    shifted = logits - logits.max(axis=1, keepdims=True)
    exponents = numpy.exp(shifted)
    sums = exponents.sum(axis=1, keepdims=True)
    value = float((numpy.log(sums[:, 0]) - shifted[rows, labels]).mean())
    gradient = exponents / sums
    gradient[rows, labels] -= 1
    return value, gradient / len(labels)
