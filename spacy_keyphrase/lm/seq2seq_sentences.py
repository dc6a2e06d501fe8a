"""The T5 family as a model of sentences."""

from typing import Iterator, List, Optional, Sequence

import numpy
import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from .packed import Packed, make_rows, make_trees
from .pieces import Pieces
from .sentence_model import Read
from .sentences import Sentence
from .seq2seq import Adjust, Seq2Seq, Source
from .weighting import Priors, reweight


class Seq2SeqSentences:
    """The T5 family.

    model (Seq2Seq): The model.
    """

    special = True
    has_states = True

    def __init__(self, model: Seq2Seq) -> None:
        self.model = model
        # 9 of 12, as in the paper.
        self.default_layer = model.encoder_layers() * 3 // 4

    @property
    def device(self) -> torch.device:
        return self.model.device

    @torch.inference_mode()
    def read(
        self, texts: Sequence[Pieces], max_tokens: int, layer: Optional[int] = None
    ) -> Iterator[Read]:
        for group in make_groups([len(text) for text in texts], max_tokens):
            some = [texts[i] for i in group]
            states, attention = self.model.encode(
                *pad_rows([t.ids for t in some], 0, self.device), layer
            )
            for row, (i, text) in enumerate(zip(group, some)):
                n = len(text)
                own = states[row, :n]
                yield Read(
                    i,
                    self.model.source(own),
                    own,
                    None if attention is None else attention[row, :n, :n],
                )

    @torch.inference_mode()
    def score(
        self,
        document: Source,
        sentences: Sequence[Sentence],
        priors: Optional[Priors],
        max_tokens: int,
    ) -> numpy.ndarray:
        scores = numpy.zeros(len(sentences))
        # The authors' code writes over the first sub-token.
        start = self.model.model.config.decoder_start_token_id
        given = sentences, max_tokens, self.device, start
        if priors is None:
            for tree in make_trees(*given):
                scores[tree.sentences] = tree.sums(self.model.score(tree, document))
            return scores
        for packed in make_rows(*given, priors.settings.padded):
            adjust = seq2seq_adjust(priors.take(packed.sentences.tolist()), packed)
            scores[packed.sentences] = packed.sums(
                self.model.score(packed, document, adjust)
            )
        return scores

    def received(
        self, texts: Sequence[Pieces], layer: int, max_tokens: int
    ) -> List[numpy.ndarray]:
        found: List[numpy.ndarray] = [numpy.zeros(0)] * len(texts)
        with torch.inference_mode():
            for group in make_groups([len(text) for text in texts], max_tokens):
                some = [texts[i] for i in group]
                ids, mask = pad_rows([text.ids for text in some], 0, self.device)
                sums = self.model.column_sums(ids, mask, layer).float().cpu()
                for i, text, row in zip(group, some, sums.numpy()):
                    found[i] = row[: len(text)]
        return found


def seq2seq_adjust(priors: Priors, packed: Packed) -> Adjust:
    """What makes cross attention look where candidates stand.

    priors (Priors): Of the packed sentences.
    packed (Packed): The sentences.
    """

    def adjust(layer: int, query: Tensor, keys: Tensor, scores: Tensor) -> Tensor:
        # The mean of the scores is the score of the mean query.
        alignment = (packed.share.to(query.dtype) @ query) @ keys.transpose(-1, -2)
        return reweight(scores, priors.weights(layer, alignment)[:, packed.rows])

    return adjust
