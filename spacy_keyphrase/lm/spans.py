"""From scores of sub-tokens to those of candidates, as SAMRank counts them."""

from typing import List, Sequence, Set, Tuple

import numpy

from ..rankers.base import Scores
from .document import Document
from .pieces import Pieces


def score_spans(
    document: Document,
    pieces: Pieces,
    tokens: numpy.ndarray,
    counts: Sequence[int],
) -> Scores:
    """The score of a candidate is the sum over its mentions, that of a mention the sum
    over its sub-tokens. Single words have the mean of their mentions, and mentions
    inside longer candidates do not count for them.

    document (Document): The document.
    pieces (Pieces): Its sub-tokens.
    tokens (ndarray): Their scores, float of shape (pieces,).
    counts (Sequence[int]): How many of its occurrences each candidate has, in order.
    RETURNS (Scores): Shares in the best score of the document.
    """
    sums = numpy.concatenate([[0.0], numpy.cumsum(tokens, dtype="f8")])
    inside = _inside_longer(document)
    spans = pieces.find_all(*document.offsets())
    there = spans[:, 1] >= 0
    values = numpy.zeros(len(spans))
    values[there] = sums[spans[there, 1] + 1] - sums[spans[there, 0]]
    phrases: List[float] = []
    mentions: List[List[float]] = []
    first = 0
    for n in counts:
        own = range(first, first + n)
        first += n
        mentions.append(values[own.start : own.stop].tolist())
        if n and len(document.occurrences[own[0]].text.split()) == 1:
            free = [float(values[i]) for i in own if i not in inside]
            phrases.append(sum(free) / max(len(free), 1))
        else:
            phrases.append(sum(mentions[-1]))
    best = max(phrases, default=0.0)
    if best <= 0:
        return Scores([0.0] * len(phrases), [[0.0] * len(own) for own in mentions])
    return Scores(
        [score / best for score in phrases],
        [[score / best for score in own] for own in mentions],
    )


def _inside_longer(document: Document) -> Set[int]:
    """Which occurrences are parts of longer ones."""
    order = sorted(
        range(len(document.occurrences)),
        key=lambda i: (document.occurrences[i].start, -document.occurrences[i].end),
    )
    found: Set[int] = set()
    reach: Tuple[int, int] = (-1, -1)
    for i in order:
        place = document.occurrences[i].start, document.occurrences[i].end
        if place[1] <= reach[1] and place != reach:
            found.add(i)
        if place[1] > reach[1]:
            reach = place
    return found
