"""JointKPE: ranking and chunking together."""

import numpy

from ..mentions import Mentions
from .base import Gold, Loss
from .chunk import ChunkHead
from .rank import RankHead


class JointHead:
    """Ranking and chunking on the same mentions (the JointKPE paper, eq. 8).

    Output of the network: the rank score and the two chunk logits of each mention,
    float of shape (mentions, 3). Loss: the sum of both losses. Only the ranking is
    used to predict.

    loss (str): The ranking loss, "hinge" as in the paper, or "softmax".
    """

    probabilities = False

    def __init__(self, loss: str = "hinge") -> None:
        self._rank, self._chunk = RankHead(loss), ChunkHead()

    def scores(self, output: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
        return self._rank.scores(output[:, :1], mentions)

    def loss(self, output: numpy.ndarray, mentions: Mentions, gold: Gold) -> Loss:
        rank = self._rank.loss(output[:, :1], mentions, gold)
        chunk = self._chunk.loss(output[:, 1:], mentions, gold)
        return Loss(
            rank.value + chunk.value,
            numpy.hstack([rank.gradient, chunk.gradient]),
            {"rank": rank.value, "chunk": chunk.value},
        )
