"""TagKPE: every token begins, continues, ends or is a keyphrase, or none of these."""

from typing import List, Tuple

import numpy

from ..mentions import Mentions
from .base import UNKNOWN, Gold, Loss, cross_entropy, softmax

OUTSIDE, BEGIN, INSIDE, END, UNIT = range(5)


class TagHead:
    """Sequence tagging (the JointKPE paper, section "TagKPE").

    Output of the network: logits of the tags O, B, I, E, U for every token, float of
    shape (tokens, 5). Loss: cross entropy averaged over the tokens of the batch. A
    mention scores the smallest probability on its path of tags, U or B I* E.
    """

    probabilities = True

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        if not len(mentions):
            return numpy.zeros(0, dtype="f4")
        tags = softmax(output)
        last = mentions.ends - 1
        single = mentions.starts == last
        scores: numpy.ndarray = numpy.where(
            single,
            tags[mentions.starts, UNIT],
            numpy.minimum(tags[mentions.starts, BEGIN], tags[last, END]),
        )
        inside = tags[:, INSIDE]
        for n in range(1, int((last - mentions.starts).max())):
            longer = numpy.flatnonzero(mentions.starts + n < last)
            tokens = mentions.starts[longer] + n
            scores[longer] = numpy.minimum(scores[longer], inside[tokens])
        return scores

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        labels = numpy.concatenate(
            [
                numpy.full(n, UNKNOWN) if spans is None else tag_labels(spans, int(n))
                for spans, n in zip(gold.spans, mentions.doc_tokens)
            ]
        )
        value, gradient = cross_entropy(output, labels)
        return Loss(value, gradient, {})


def tag_labels(spans: List[Tuple[int, int]], n_tokens: int) -> numpy.ndarray:
    """The tags of the tokens of one doc.

    spans (List[Tuple[int, int]]): Token offsets (start, end) of gold mentions; of
        overlapping ones the first stays, the shorter where two start together.
    n_tokens (int): Tokens of the doc.
    RETURNS (ndarray): Int of shape (n_tokens,).
    """
    labels = numpy.full(n_tokens, OUTSIDE, dtype="i4")
    reached = 0
    for start, end in sorted(spans):
        if start < reached or end > n_tokens:
            continue
        if end - start == 1:
            labels[start] = UNIT
        else:
            labels[start:end] = INSIDE
            labels[start], labels[end - 1] = BEGIN, END
        reached = end
    return labels
