"""Decoders of T5 and BART that write in slots: none sees another, and all of a document
look at it together. They run over the modules of transformers, which are the same in
all its versions."""

from abc import ABC, abstractmethod
from typing import Any, List, Optional, Tuple

import torch
from torch import Tensor, nn

from ..t5 import position_buckets, scales_outputs
from .attention import KeysValues, join_heads, split_heads
from .set_model import Seen


class SlotDecoder(nn.Module, ABC):
    """The decoder of a pretrained model.

    model (PreTrainedModel): With an encoder and a decoder.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        # Not a part of this module: it is one of what uses it.
        self._model = [model]

    @property
    def model(self) -> Any:
        """The model."""
        return self._model[0]

    def embed(self, words: Tensor) -> Tensor:
        """The embeddings of words as the decoder reads them, float of shape (...,
        width)."""
        embedded: Tensor = self.model.get_decoder().embed_tokens(words)
        return embedded

    @abstractmethod
    def look_at(self, states: Tensor) -> List[KeysValues]:
        """Keys and values of documents for each layer.

        states (Tensor): Of the encoder, float of shape (docs, length, width).
        """

    @abstractmethod
    def read(
        self,
        embedded: Tensor,
        steps: Tensor,
        keys_values: List[KeysValues],
        mask: Tensor,
        seen: Seen,
    ) -> Tensor:
        """What slots have written.

        embedded (Tensor): Words, float of shape (docs, words, width).
        steps (Tensor): Their places in their slots, int of shape (docs, words) or
            (words,).
        keys_values (List[KeysValues]): Of the documents, for each layer.
        mask (Tensor): What of the documents is no padding, bool of shape (docs,
            length).
        seen (Seen): What words see of words before.
        RETURNS (Tensor): Logits, float of shape (docs, words, vocabulary).
        """

    def drop(self, X: Tensor, rate: float) -> Tensor:
        """Dropout in training."""
        return nn.functional.dropout(X, rate, self.training)


def _cross(
    Q: Tensor,
    keys_values: KeysValues,
    mask: Tensor,
    dropout: float,
    scale: Optional[float] = None,
) -> Tensor:
    looked: Tensor = nn.functional.scaled_dot_product_attention(
        Q, *keys_values, attn_mask=mask[:, None, None], dropout_p=dropout, scale=scale
    )
    return looked


class T5Slots(SlotDecoder):
    """T5 and its kin: places are told by a bias of attention."""

    def look_at(self, states: Tensor) -> List[KeysValues]:
        found = []
        for block in self.model.decoder.block:
            attention = block.layer[1].EncDecAttention
            heads = attention.n_heads
            found.append(
                (
                    split_heads(attention.k(states), heads),
                    split_heads(attention.v(states), heads),
                )
            )
        return found

    def read(
        self,
        embedded: Tensor,
        steps: Tensor,
        keys_values: List[KeysValues],
        mask: Tensor,
        seen: Seen,
    ) -> Tensor:
        decoder = self.model.decoder
        rate = float(self.model.config.dropout_rate)
        attending = rate if self.training else 0.0
        X = self.drop(embedded, rate)
        bias = None
        distances = seen.distances().clamp(min=0).to(X.device)
        for i, block in enumerate(decoder.block):
            attend, cross, forward = block.layer
            attention = attend.SelfAttention
            heads = attention.n_heads
            if attention.has_relative_attention_bias:
                bias = self._bias(attention, distances).to(X.dtype)
            normed = attend.layer_norm(X)
            Q, K, V = (
                split_heads(project(normed), heads)
                for project in (attention.q, attention.k, attention.v)
            )
            looked = seen.attend(i, Q, K, V, bias=bias, scale=1.0, dropout=attending)
            X = X + self.drop(attention.o(join_heads(looked)), rate)
            attention = cross.EncDecAttention
            Q = split_heads(attention.q(cross.layer_norm(X)), heads)
            looked = _cross(Q, keys_values[i], mask, attending, scale=1.0)
            X = X + self.drop(attention.o(join_heads(looked)), rate)
            X = forward(X)
        X = self.drop(decoder.final_layer_norm(X), rate)
        if scales_outputs(self.model.config):
            X = X * self.model.model_dim**-0.5
        logits: Tensor = self.model.lm_head(X)
        return logits

    def _bias(self, attention: Any, distances: Tensor) -> Tensor:
        """The bias of words that are some steps apart: float of shape (docs or 1,
        heads, words or 1, words)."""
        buckets = position_buckets(attention, -distances, bidirectional=False)
        bias: Tensor = attention.relative_attention_bias(buckets)
        return bias.permute(0, 3, 1, 2)


class BartSlots(SlotDecoder):
    """BART: places have embeddings, and layers normalise last."""

    def look_at(self, states: Tensor) -> List[KeysValues]:
        found = []
        for layer in self.model.get_decoder().layers:
            attention = layer.encoder_attn
            heads = attention.num_heads
            found.append(
                (
                    split_heads(attention.k_proj(states), heads),
                    split_heads(attention.v_proj(states), heads),
                )
            )
        return found

    def read(
        self,
        embedded: Tensor,
        steps: Tensor,
        keys_values: List[KeysValues],
        mask: Tensor,
        seen: Seen,
    ) -> Tensor:
        decoder, config = self.model.get_decoder(), self.model.config
        rate = float(config.dropout)
        attending = float(config.attention_dropout) if self.training else 0.0
        places = decoder.embed_positions
        X = embedded + places.weight[steps + places.offset]
        X = self.drop(decoder.layernorm_embedding(X), rate)
        for i, layer in enumerate(decoder.layers):
            Q, K, V = self._project(layer.self_attn, X)
            looked = seen.attend(i, Q, K, V, dropout=attending)
            looked = self.drop(layer.self_attn.out_proj(join_heads(looked)), rate)
            X = layer.self_attn_layer_norm(X + looked)
            attention = layer.encoder_attn
            Q = split_heads(attention.q_proj(X), attention.num_heads)
            looked = _cross(Q, keys_values[i], mask, attending)
            looked = self.drop(attention.out_proj(join_heads(looked)), rate)
            X = layer.encoder_attn_layer_norm(X + looked)
            inner = layer.activation_fn(layer.fc1(X))
            inner = self.drop(inner, float(config.activation_dropout))
            X = layer.final_layer_norm(X + self.drop(layer.fc2(inner), rate))
        logits: Tensor = self.model.lm_head(X) + self.model.final_logits_bias
        return logits

    def _project(self, attention: Any, X: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        heads = attention.num_heads
        return (
            split_heads(attention.q_proj(X), heads),
            split_heads(attention.k_proj(X), heads),
            split_heads(attention.v_proj(X), heads),
        )


_DECODERS = {"t5": T5Slots, "mt5": T5Slots, "umt5": T5Slots, "bart": BartSlots}


def make_slot_decoder(model: Any) -> SlotDecoder:
    """The decoder of a model.

    model (PreTrainedModel): With an encoder and a decoder.
    RAISES: ValueError where its kind is not known.
    """
    kind = model.config.model_type
    if kind not in _DECODERS:
        raise ValueError(
            f"it is a {kind}; slots are known for {', '.join(sorted(_DECODERS))}"
        )
    return _DECODERS[kind](model)


@torch.no_grad()
def scale_codes(codes: nn.Embedding, embeddings: nn.Embedding) -> None:
    """Draw control codes a tenth as large as the embeddings of words, so that a
    pretrained decoder reads words as before."""
    codes.weight.normal_(0, 0.1 * float(embeddings.weight.std()))
