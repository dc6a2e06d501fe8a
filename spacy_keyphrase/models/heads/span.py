"""SpanKPE: where a keyphrase starts, and from there where it ends."""

import math
from typing import Iterator, List, Optional, Tuple

import numpy

from ..mentions import Mentions
from .base import UNKNOWN, Gold, Loss, cross_entropy, softmax

# Added to a probability before its logarithm, as in the reference code.
TINY = 1e-16


class SpanHead:
    """Start and end prediction (the JointKPE paper, section "SpanKPE").

    Output of the network: for every token the logits that no keyphrase and that one
    starts here, a query and a key, float of shape (tokens, 2 + 2 * width). From
    start i the ends j >= i have the probabilities softmax(q_i . k_j / sqrt(width)). A
    mention scores the product of both. Loss: cross entropy of the starts averaged
    over tokens, plus the negative log probability of the ends averaged over gold
    starts; where two mentions start together the shorter is taught.

    window (int): Tokens after a start that are possible ends; what the reference cuts
        its documents to.
    """

    probabilities = True

    def __init__(self, window: int = 510):
        self.window = window

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        scores = numpy.zeros(len(mentions), dtype="f4")
        if not len(mentions):
            return scores
        starts = softmax(output[:, :2])[:, 1]
        limits = numpy.repeat(numpy.cumsum(mentions.doc_tokens), mentions.doc_tokens)
        order = numpy.argsort(mentions.starts, kind="stable")
        # Row after row, so that a long document needs no matrix of its squared length.
        for chunk in numpy.array_split(order, 1 + len(order) // 1024):
            first = int(mentions.starts[chunk[0]])
            rows = numpy.unique(mentions.starts[chunk])
            ends = self._ends(output, rows, first, limits)
            row = numpy.searchsorted(rows, mentions.starts[chunk])
            scores[chunk] = (
                starts[rows][row] * ends[row, mentions.ends[chunk] - 1 - first]
            )
        return scores

    def _ends(
        self,
        output: numpy.ndarray,
        rows: numpy.ndarray,
        first: int,
        limits: numpy.ndarray,
    ) -> numpy.ndarray:
        """Probabilities of ends, shape (rows, columns); column 0 is token `first`."""
        queries, keys = _parts(output)
        last = min(int(limits[rows[-1]]), int(rows[-1]) + self.window)
        logits = queries[rows] @ keys[first:last].T / math.sqrt(keys.shape[1])
        columns = numpy.arange(first, last)
        start = rows[:, None]
        reach = numpy.minimum(limits[rows], rows + self.window)[:, None]
        logits[(columns < start) | (columns >= reach)] = -numpy.inf
        return softmax(logits)

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        limits = numpy.repeat(numpy.cumsum(mentions.doc_tokens), mentions.doc_tokens)
        ends = list(_gold_ends(gold.spans, mentions.doc_tokens))
        known = [spans is not None for spans in gold.spans]
        labels = numpy.where(numpy.repeat(known, mentions.doc_tokens), 0, UNKNOWN)
        labels[[start for start, _ in ends]] = 1
        start_loss, d_starts = cross_entropy(output[:, :2], labels)
        gradient = numpy.zeros_like(output)
        gradient[:, :2] = d_starts
        queries, keys = _parts(output)
        d_queries, d_keys = _parts(gradient)
        scale = 1 / math.sqrt(keys.shape[1])
        end_loss = 0.0
        for start, end in ends:
            last = min(int(limits[start]), start + self.window)
            probabilities = softmax(keys[start:last] @ queries[start] * scale)
            chosen = end - 1 - start
            if chosen >= len(probabilities):
                continue
            p = float(probabilities[chosen])
            end_loss -= math.log(p + TINY) / len(ends)
            d = probabilities * (p / (p + TINY) * scale / len(ends))
            d[chosen] -= p / (p + TINY) * scale / len(ends)
            d_queries[start] += d @ keys[start:last]
            d_keys[start:last] += d[:, None] * queries[start]
        return Loss(
            start_loss + end_loss, gradient, {"start": start_loss, "end": end_loss}
        )


def _parts(output: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    width = (output.shape[1] - 2) // 2
    return output[:, 2 : 2 + width], output[:, 2 + width :]


def _gold_ends(
    spans: List[Optional[List[Tuple[int, int]]]], doc_tokens: numpy.ndarray
) -> Iterator[Tuple[int, int]]:
    """One end for each gold start, tokens counted through the batch."""
    offset = 0
    for of_doc, n in zip(spans, doc_tokens):
        taken = -1
        for start, end in sorted(of_doc or ()):
            if start != taken and end <= n:
                yield start + offset, end + offset
                taken = start
        offset += int(n)
