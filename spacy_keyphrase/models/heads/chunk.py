"""ChunkKPE: is this mention a keyphrase, yes or no."""

import numpy

from ..mentions import Mentions
from .base import Gold, Loss, cross_entropy, softmax


class ChunkHead:
    """Classification of mentions (the JointKPE paper, section "ChunkKPE").

    Output of the network: logits for no and yes, float of shape (mentions, 2). Loss:
    cross entropy averaged over all mentions of the batch, yes where the mention is
    annotated. A phrase has the highest probability of its mentions.
    """

    probabilities = True

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        return softmax(output)[:, 1] if len(output) else output[:, 0]

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        value, gradient = cross_entropy(output, gold.mentions.astype("i4"))
        return Loss(value, gradient, {})
