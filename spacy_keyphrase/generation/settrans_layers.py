"""The layers of SetTrans: they normalise first, as those of the public code."""

import math
from dataclasses import dataclass
from typing import Any, List, Tuple

from torch import Tensor, nn

from .attention import Attention, KeysValues, sinusoids
from .set_model import Seen

# Positions that there are embeddings of.
POSITIONS = 3000


@dataclass(frozen=True)
class SetTransSettings:
    """The sizes of a SetTrans; defaults are those of the paper.

    vocabulary (int): Words, special ones included.
    width (int): Of all layers but the inner ones.
    heads (int): Of each attention.
    inner (int): Width of the inner layers.
    encoder_layers, decoder_layers (int): How many.
    slots (int): Keyphrases that can be written, half of them present ones.
    dropout (float): In training.
    attention_dropout (float): Of the weights of attention, in training.
    tied (bool): Whether words have one vector where they are read and where they are
        written. In the paper they have two.
    """

    vocabulary: int
    width: int = 512
    heads: int = 8
    inner: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    slots: int = 20
    dropout: float = 0.1
    attention_dropout: float = 0.1
    tied: bool = False


class Encoder(nn.Module):
    """Represents documents."""

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        width = settings.width
        self.scale = math.sqrt(width)
        self.dropout = settings.dropout
        self.input_fc = nn.Linear(width, width)
        self.layer_stacks = nn.ModuleList(
            EncoderLayer(settings) for _ in range(settings.encoder_layers)
        )
        self.layer_norm = nn.LayerNorm(width)
        self.register_buffer("places", sinusoids(POSITIONS, width), persistent=False)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """From embedded words, float of shape (docs, length, width), and what is no
        padding, to states of the same shape."""
        # Places begin at 1.
        numbers = mask.cumsum(1).clamp(max=POSITIONS - 1) * mask
        places: Tensor = self.places  # type: ignore[assignment]
        X = self.input_fc(self.scale * embedded + places[numbers])
        X = nn.functional.dropout(X, self.dropout, self.training)
        for layer in self.layer_stacks:
            X = layer(X, mask[:, None, None])
        states: Tensor = self.layer_norm(X)
        return states


class EncoderLayer(nn.Module):
    """Self-attention and an inner layer."""

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        self.attn_layer_norm = nn.LayerNorm(settings.width)
        self.self_attn = Attention(
            settings.width, settings.heads, settings.attention_dropout
        )
        self.drop = nn.Dropout(settings.dropout)
        self.ffn_layer_norm = nn.LayerNorm(settings.width)
        self.ffn = make_inner(settings)

    def forward(self, X: Tensor, mask: Tensor) -> Tensor:
        normed = self.attn_layer_norm(X)
        looked_at = self.self_attn.keys_values(normed)
        X = X + self.drop(self.self_attn(normed, looked_at, mask))
        inner: Tensor = X + self.ffn(self.ffn_layer_norm(X))
        return inner


class Decoder(nn.Module):
    """Writes all slots; none sees another."""

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        width = settings.width
        self.scale = math.sqrt(width)
        self.dropout = settings.dropout
        self.input_fc = nn.Linear(width, width)
        self.control_code = nn.Embedding(settings.slots, width)
        self.layer_stacks = nn.ModuleList(
            DecoderLayer(settings) for _ in range(settings.decoder_layers)
        )
        self.layer_norm = nn.LayerNorm(width)
        self.output_fc = nn.Linear(width, width)
        self.output_layer = nn.Linear(width, settings.vocabulary, bias=False)
        self.p_gen_linear = nn.Linear(width, 1)
        nn.init.uniform_(self.control_code.weight, -0.1, 0.1)
        self.register_buffer("places", sinusoids(POSITIONS, width), persistent=False)

    def look_at(self, states: Tensor) -> List[KeysValues]:
        """Keys and values of documents for each layer."""
        layers: Any = self.layer_stacks
        return [layer.encoder_attn.keys_values(states) for layer in layers]

    def forward(
        self,
        embedded: Tensor,
        slots: Tensor,
        steps: Tensor,
        keys_values: List[KeysValues],
        mask: Tensor,
        seen: Seen,
    ) -> Tuple[Tensor, Tensor]:
        """Read what slots have written.

        embedded (Tensor): Words, float of shape (docs, words, width).
        slots, steps (Tensor): The slot of each and its place there, int of shape (docs,
            words) or (words,).
        keys_values (List[KeysValues]): Of the documents, for each layer.
        mask (Tensor): What of the documents is no padding, bool.
        seen (Seen): What words see of words before.
        RETURNS (Tuple[Tensor, Tensor]): States, float of shape (docs, words, width),
            and how much each would copy of the words of its document, float of shape
            (docs, words, length).
        """
        places: Tensor = self.places  # type: ignore[assignment]
        X = self.input_fc(self.scale * embedded) + places[steps]
        X = X + self.control_code(slots)
        X = nn.functional.dropout(X, self.dropout, self.training)
        copied = X.new_zeros(0)
        layers: Any = self.layer_stacks
        for i, layer in enumerate(layers):
            X = layer.look(X, i, seen)
            if i == len(layers) - 1:
                copied = layer.copied(X, keys_values[i], mask)
            X = layer(X, keys_values[i], mask)
        states: Tensor = self.output_fc(self.layer_norm(X))
        return states, copied


class DecoderLayer(nn.Module):
    """Self-attention, attention to the document, and an inner layer."""

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        width, heads = settings.width, settings.heads
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.self_attn = Attention(width, heads, settings.attention_dropout)
        self.encoder_attn_layer_norm = nn.LayerNorm(width)
        self.encoder_attn = Attention(width, heads, settings.attention_dropout)
        self.drop = nn.Dropout(settings.dropout)
        self.final_layer_norm = nn.LayerNorm(width)
        self.ffn = make_inner(settings)

    def look(self, X: Tensor, number: int, seen: Seen) -> Tensor:
        """Words look at the words before."""
        attention = self.self_attn
        normed = self.self_attn_layer_norm(X)
        rate = attention.dropout if self.training else 0.0
        looked = seen.attend(number, *attention.project(normed), dropout=rate)
        attended: Tensor = X + self.drop(attention.join(looked))
        return attended

    def copied(self, X: Tensor, keys_values: KeysValues, mask: Tensor) -> Tensor:
        """How the first head looks at the document."""
        normed = self.encoder_attn_layer_norm(X)
        return self.encoder_attn.weights_of_head(normed, keys_values[0], mask)

    def forward(self, X: Tensor, keys_values: KeysValues, mask: Tensor) -> Tensor:
        """Words that have looked at those before look at the document."""
        normed = self.encoder_attn_layer_norm(X)
        X = X + self.drop(self.encoder_attn(normed, keys_values, mask[:, None, None]))
        inner: Tensor = X + self.ffn(self.final_layer_norm(X))
        return inner


def make_inner(settings: SetTransSettings) -> nn.Sequential:
    """The inner layer: wider, rectified, dropped out."""
    return nn.Sequential(
        nn.Linear(settings.width, settings.inner),
        nn.ReLU(),
        nn.Dropout(settings.dropout),
        nn.Linear(settings.inner, settings.width),
        nn.Dropout(settings.dropout),
    )
