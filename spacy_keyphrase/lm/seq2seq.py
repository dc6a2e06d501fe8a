"""Encoder-decoder models of the T5 family: every document is encoded once, and all its
candidates go through the decoder together.

The decoder is run over the modules of transformers, which are the same in all its
versions, with keys and values of the document computed once.
"""

from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch import Tensor

from ..t5 import position_buckets, scales_outputs
from .packed import Packed

# From the layer, the queries of the sentences, (heads, sub-tokens, head width), the
# document's keys, (heads, sub-tokens of the document, head width), and the pre-softmax
# scores of both, (heads, sub-tokens, sub-tokens of the document), to scores of the same
# shape.
Adjust = Callable[[int, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Source:
    """A document as the decoder sees it.

    keys (List[Tensor]): Of each layer, float of shape (heads, length, head width).
    values (List[Tensor]): The same.
    """

    keys: List[Tensor]
    values: List[Tensor]


class Seq2Seq:
    """Scores sentences given documents.

    model (T5ForConditionalGeneration): The model, or one of its kin (mT5, UMT5,
        Flan-T5).
    """

    def __init__(self, model: Any) -> None:
        self.model = model.eval()
        self.decoder = model.decoder
        self.heads = int(model.config.num_heads)

    @property
    def device(self) -> torch.device:
        return self.model.device  # type: ignore[no-any-return]

    def encode(
        self, ids: Tensor, mask: Tensor, layer: Optional[int] = None
    ) -> Tuple[Tensor, Optional[Tensor]]:
        """Encode documents.

        ids (Tensor): Padded, int of shape (docs, length).
        mask (Tensor): What is no padding, bool of the same shape.
        layer (Optional[int]): Whose self-attention is wanted, from 0.
        RETURNS (Tuple[Tensor, Optional[Tensor]]): The last hidden states, float of
            shape (docs, length, width), and the self-attention of the layer, averaged
            over the heads, float of shape (docs, length, length).
        """
        if layer is None:
            output = self.model.encoder(input_ids=ids, attention_mask=mask)
            return output.last_hidden_state, None
        self._check(layer)
        output = self.model.encoder(
            input_ids=ids, attention_mask=mask, output_hidden_states=True
        )
        attention = self._encoder_attention(layer, output.hidden_states[layer], mask)
        return output.last_hidden_state, attention

    def encoder_layers(self) -> int:
        """How many layers the encoder has."""
        return len(self.model.encoder.block)

    def column_sums(self, ids: Tensor, mask: Tensor, layer: int) -> Tensor:
        """What each sub-token of a text receives of self-attention in the encoder: the
        attention of others to it, averaged over the heads and added up (eq. 9). Nothing
        is computed above the layer.

        ids (Tensor): Padded, int of shape (texts, length).
        mask (Tensor): What is no padding, bool of the same shape.
        layer (int): The layer looked at, from 0.
        RETURNS (Tensor): Float of shape (texts, length).
        """
        self._check(layer)
        encoder = self.model.encoder
        hidden = encoder.embed_tokens(ids)
        bias = self._encoder_bias(0, mask)
        for i, block in enumerate(encoder.block[:layer]):
            attend = block.layer[0]
            if i and attend.SelfAttention.has_relative_attention_bias:
                bias = self._encoder_bias(i, mask)
            normed = attend.layer_norm(hidden)
            hidden = hidden + self._attend(attend.SelfAttention, normed, bias)
            hidden = block.layer[-1](hidden)
        attention = self._encoder_attention(layer, hidden, mask)
        sums: Tensor = (attention * mask[:, :, None]).sum(dim=1)
        return sums

    def _encoder_attention(self, layer: int, hidden: Tensor, mask: Tensor) -> Tensor:
        """Self-attention of a layer, averaged over the heads, from what enters it."""
        attend = self.model.encoder.block[layer].layer[0]
        bias = self._encoder_bias(layer, mask)
        normed = attend.layer_norm(hidden)
        return self._attention(attend.SelfAttention, normed, bias)[0].mean(dim=1)

    def _check(self, layer: int) -> None:
        n = self.encoder_layers()
        if not 0 <= layer < n:
            raise ValueError(f"The encoder has {n} layers; there is no layer {layer}.")

    def _encoder_bias(self, layer: int, mask: Tensor) -> Tensor:
        """The bias between the places of texts, padding hidden; in most models the
        first layer has it for all."""
        blocks = self.model.encoder.block
        attention = blocks[layer].layer[0].SelfAttention
        if not attention.has_relative_attention_bias:
            attention = blocks[0].layer[0].SelfAttention
        places = torch.arange(mask.shape[1], device=self.device)
        bias = self._bias(attention, places, bidirectional=True)
        return bias.masked_fill(~mask[:, None, None], torch.finfo(bias.dtype).min)

    def source(self, states: Tensor) -> Source:
        """Keys and values of a document for all layers of the decoder.

        states (Tensor): Its states without padding, float of shape (length, width).
        """
        keys, values = [], []
        for block in self.decoder.block:
            attention = block.layer[1].EncDecAttention
            keys.append(self._split(attention.k(states)))
            values.append(self._split(attention.v(states)))
        return Source(keys, values)

    def score(
        self, packed: Packed, source: Source, adjust: Optional[Adjust] = None
    ) -> Tensor:
        """The log-probabilities of what is scored.

        packed (Packed): The sentences.
        source (Source): Their document.
        adjust (Optional[Adjust]): Changes the scores of cross attention.
        RETURNS (Tensor): Float of shape (scored,).
        """
        hidden = self._decode(packed, source, adjust)
        # The vocabulary is looked at once for all that may follow.
        nodes, places = torch.unique(packed.at, return_inverse=True)
        logits = self._logits(hidden[nodes])
        return logits[places, packed.targets] - logits.logsumexp(dim=1)[places]

    def _decode(
        self, packed: Packed, source: Source, adjust: Optional[Adjust]
    ) -> Tensor:
        """The decoder's last hidden states, float of shape (n, width)."""
        hidden = self.decoder.embed_tokens(packed.ids)
        bias = None
        for layer, block in enumerate(self.decoder.block):
            attend, cross, forward = block.layer
            attention = attend.SelfAttention
            if attention.has_relative_attention_bias:
                bias = self._bias(attention, packed.places, bidirectional=False)
                bias = bias.masked_fill(~packed.seen, torch.finfo(bias.dtype).min)
            normed = attend.layer_norm(hidden)
            hidden = hidden + self._attend(attention, normed, bias)
            normed = cross.layer_norm(hidden)
            hidden = hidden + self._cross(
                cross.EncDecAttention, normed, source, layer, adjust
            )
            hidden = forward(hidden)
        normed_hidden: Tensor = self.decoder.final_layer_norm(hidden)
        return normed_hidden

    def _attend(self, attention: Any, hidden: Tensor, bias: Any) -> Tensor:
        weights, value = self._attention(attention, hidden, bias)
        joined: Tensor = attention.o(self._join(weights @ value))
        return joined

    def _attention(
        self, attention: Any, hidden: Tensor, bias: Any
    ) -> Tuple[Tensor, Tensor]:
        query, key, value = (
            self._split(project(hidden))
            for project in (attention.q, attention.k, attention.v)
        )
        scores = query @ key.transpose(-1, -2) + bias
        return scores.float().softmax(dim=-1).to(scores.dtype), value

    def _cross(
        self,
        attention: Any,
        hidden: Tensor,
        source: Source,
        layer: int,
        adjust: Optional[Adjust],
    ) -> Tensor:
        """Attention of the sentences to their document."""
        query = self._split(attention.q(hidden))
        keys = source.keys[layer]
        scores = query @ keys.transpose(-1, -2)
        if adjust is not None:
            scores = adjust(layer, query, keys, scores)
        values = source.values[layer]
        weights = scores.float().softmax(dim=-1).to(values.dtype)
        joined: Tensor = attention.o(self._join(weights @ values))
        return joined

    def _bias(self, attention: Any, places: Tensor, *, bidirectional: bool) -> Tensor:
        """The bias of self-attention between places."""
        buckets = position_buckets(
            attention, places[None] - places[:, None], bidirectional=bidirectional
        )
        bias: Tensor = attention.relative_attention_bias(buckets).permute(2, 0, 1)
        return bias

    def _logits(self, hidden: Tensor) -> Tensor:
        """Scores of the vocabulary, from final states."""
        if scales_outputs(self.model.config):
            hidden = hidden * self.model.model_dim**-0.5
        logits: Tensor = self.model.lm_head(hidden).float()
        return logits

    def _split(self, projected: Tensor) -> Tensor:
        """From (..., length, heads * width) to (..., heads, length, width)."""
        shape = (*projected.shape[:-1], self.heads, -1)
        return projected.view(shape).transpose(-2, -3)

    def _join(self, parted: Tensor) -> Tensor:
        """The counterpart of `_split`."""
        return parted.transpose(-2, -3).flatten(-2)
