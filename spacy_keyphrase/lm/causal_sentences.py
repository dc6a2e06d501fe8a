"""Decoder-only models as models of sentences."""

from typing import Iterator, List, Optional, Sequence

import numpy
import torch
from torch import Tensor

from .attention import After, Before
from .causal import Causal, Past
from .packed import Packed, make_rows, make_trees
from .pieces import Pieces
from .sentence_model import Read
from .sentences import Sentence
from .weighting import Priors, reweight


class CausalSentences:
    """Decoder-only models.

    model (Causal): The model.
    """

    special = False
    has_states = False

    def __init__(self, model: Causal) -> None:
        self.model = model
        # 23 of 42 in Gemma 2 9B, as in the paper.
        self.default_layer = model.n_layers * 23 // 42

    @property
    def device(self) -> torch.device:
        return self.model.device

    @torch.inference_mode()
    def read(
        self, texts: Sequence[Pieces], max_tokens: int, layer: Optional[int] = None
    ) -> Iterator[Read]:
        none = torch.zeros(0)
        for i, text in enumerate(texts):
            past, attention = self.model.read(text.ids, layer)
            yield Read(i, past, none, attention)

    @torch.inference_mode()
    def score(
        self,
        document: Past,
        sentences: Sequence[Sentence],
        priors: Optional[Priors],
        max_tokens: int,
    ) -> numpy.ndarray:
        scores = numpy.zeros(len(sentences))
        given = sentences, max_tokens, self.device
        if priors is None:
            for tree in make_trees(*given):
                scores[tree.sentences] = tree.sums(self.model.score(document, tree))
            return scores
        self.model.check_attention()
        for packed in make_rows(*given):
            own = priors.take(packed.sentences.tolist())
            before, after = None, None
            if priors.settings.after_softmax:
                after = _after(own, packed, document.length)
            else:
                before = _before(own, packed, document.length)
            scores[packed.sentences] = packed.sums(
                self.model.score(document, packed, before, after)
            )
        return scores

    def received(
        self, texts: Sequence[Pieces], layer: int, max_tokens: int
    ) -> List[numpy.ndarray]:
        with torch.inference_mode():
            return [
                self.model.column_sums(text.ids, layer).cpu().numpy() for text in texts
            ]


def _before(priors: Priors, packed: Packed, length: int) -> Before:
    """Eq. 8 on the scores of sentences and document (eq. 14)."""

    def before(layer: int, scores: Tensor) -> Tensor:
        of_document = scores[0, :, :, :length]
        alignment = packed.share.to(scores.dtype) @ of_document
        weights = priors.weights(layer, alignment)[:, packed.rows]
        changed = reweight(of_document, weights)
        return torch.cat([changed[None], scores[..., length:]], dim=-1)

    return before


def _after(priors: Priors, packed: Packed, length: int) -> After:
    """The attention of sentences to the document times the weights, as in the code of
    the authors."""

    def after(layer: int, scores: Tensor, attention: Tensor) -> Tensor:
        alignment = packed.share.to(scores.dtype) @ scores[0, :, :, :length]
        weights = priors.weights(layer, alignment)[:, packed.rows]
        changed = attention.clone()
        changed[0, :, :, :length] *= weights.to(changed.dtype)
        return changed / (changed.sum(dim=-1, keepdim=True) + 1e-6)

    return after
