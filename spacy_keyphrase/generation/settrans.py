"""SetTrans: a set of keyphrases at once, each from a slot with its own control code
(One2Set, Ye et al. 2021, section 3)."""

import math
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import torch
from torch import Tensor, nn

from .attention import Attention, KeysValues, sinusoids

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
    """

    vocabulary: int
    width: int = 512
    heads: int = 8
    inner: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    slots: int = 20
    dropout: float = 0.1


@dataclass
class Memory:
    """A batch of documents as the decoder sees it.

    mask (Tensor): What is no padding, bool of shape (docs, length).
    extended (Tensor): Their words, those outside the vocabulary numbered behind it,
        int of shape (docs, length).
    n_extra (int): Words outside the vocabulary, at most.
    keys_values (List[KeysValues]): Of each layer of the decoder.
    """

    mask: Tensor
    extended: Tensor
    n_extra: int
    keys_values: List[KeysValues]


class SetTrans(nn.Module):
    """Encoder and decoder, with words copied from the document.

    settings (SetTransSettings): Sizes.
    """

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        self.settings = settings
        self.embed = nn.Embedding(settings.vocabulary, settings.width, padding_idx=0)
        self.encoder = Encoder(settings)
        self.decoder = Decoder(settings)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)

    def encode(self, ids: Tensor, extended: Tensor, mask: Tensor) -> Memory:
        """Read documents.

        ids (Tensor): Words, int of shape (docs, length).
        extended (Tensor): The same, those outside the vocabulary numbered behind it.
        mask (Tensor): What is no padding, bool.
        """
        states = self.encoder(self.embed(ids), mask)
        n_extra = max(int(extended.max()) + 1 - self.settings.vocabulary, 0)
        return Memory(mask, extended, n_extra, self.decoder.look_at(states))

    def log_probabilities(
        self, memory: Memory, inputs: Tensor, targets: Tensor
    ) -> Tensor:
        """Log-probabilities of words that follow words, all slots at once.

        memory (Memory): The documents.
        inputs (Tensor): The words before, int of shape (docs, slots, steps); those
            outside the vocabulary are unknown words.
        targets (Tensor): The words asked for, of the extended vocabulary.
        RETURNS (Tensor): Float of the shape of targets.
        """
        states, copied = self.decoder(self.embed(inputs), memory)
        generate = self.decoder.generate(states)
        logits = self.decoder.logits(states)
        known = targets.clamp(max=self.settings.vocabulary - 1)
        log_known = logits.gather(-1, known[..., None])[..., 0] - logits.logsumexp(-1)
        p = log_known.exp().masked_fill(targets >= self.settings.vocabulary, 0)
        same = memory.extended[:, None, None] == targets[..., None]
        p_copied = (copied * same).sum(-1)
        log_p: Tensor = (generate * p + (1 - generate) * p_copied + 1e-8).log()
        return log_p

    def distributions(
        self, memory: Memory, inputs: Tensor, past: Optional["Past"] = None
    ) -> Tensor:
        """Probabilities of all words of the extended vocabulary.

        inputs (Tensor): The words before, int of shape (docs, slots, steps).
        past (Optional[Past]): What was read before; added to.
        RETURNS (Tensor): Float of shape (docs, slots, steps, vocabulary + extra).
        """
        states, copied = self.decoder(self.embed(inputs), memory, past)
        generate = self.decoder.generate(states)[..., None]
        known = generate * self.decoder.logits(states).softmax(-1)
        whole = nn.functional.pad(known, (0, memory.n_extra))
        at = memory.extended[:, None, None].expand(*copied.shape)
        mixed: Tensor = whole.scatter_add(-1, at, (1 - generate) * copied)
        return mixed


class Encoder(nn.Module):
    """Layers that normalise first."""

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
        self.dropout = settings.dropout
        self.attn_layer_norm = nn.LayerNorm(settings.width)
        self.self_attn = Attention(settings.width, settings.heads, settings.dropout)
        self.ffn_layer_norm = nn.LayerNorm(settings.width)
        self.ffn = make_inner(settings)

    def forward(self, X: Tensor, mask: Tensor) -> Tensor:
        normed = self.attn_layer_norm(X)
        looked_at = self.self_attn.keys_values(normed)
        X = X + self._drop(self.self_attn(normed, looked_at, mask))
        inner: Tensor = X + self.ffn(self.ffn_layer_norm(X))
        return inner

    def _drop(self, X: Tensor) -> Tensor:
        return nn.functional.dropout(X, self.dropout, self.training)


class Past:
    """The keys and values of what slots have written, layer by layer."""

    def __init__(self) -> None:
        self.keys_values: List[KeysValues] = []

    @property
    def steps(self) -> int:
        """How many words each slot has."""
        return self.keys_values[0][0].shape[2] if self.keys_values else 0

    def add(self, layer: int, new: KeysValues) -> KeysValues:
        """All keys and values of a layer, the new ones last."""
        if layer == len(self.keys_values):
            self.keys_values.append(new)
        else:
            old = self.keys_values[layer]
            joined = [torch.cat(pair, dim=2) for pair in zip(old, new)]
            self.keys_values[layer] = joined[0], joined[1]
        return self.keys_values[layer]


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
        self, embedded: Tensor, memory: Memory, past: Optional[Past] = None
    ) -> Tuple[Tensor, Tensor]:
        """Read what slots have written so far.

        embedded (Tensor): Words, float of shape (docs, slots, steps, width).
        memory (Memory): The documents.
        past (Optional[Past]): What they had written before; added to.
        RETURNS (Tuple[Tensor, Tensor]): States, float of shape (docs, slots, steps,
            width), and how much each would copy of the words of its document, float of
            shape (docs, slots, steps, length).
        """
        docs, slots, steps, _ = embedded.shape
        first = past.steps if past is not None else 0
        places: Tensor = self.places  # type: ignore[assignment]
        X = self.input_fc(self.scale * embedded) + places[first : first + steps]
        X = X + self.control_code.weight[:slots, None]
        X = nn.functional.dropout(X, self.dropout, self.training)
        # In attention to themselves slots are as documents are.
        X = X.flatten(0, 1)
        copied = X.new_zeros(0)
        seen = torch.ones(steps, first + steps, dtype=torch.bool, device=X.device)
        seen = seen.tril(first)
        for i, layer in enumerate(self.layer_stacks):
            last = i == len(self.layer_stacks) - 1
            X, copied = layer(X, i, seen, memory, past, docs, last)
        states = self.output_fc(self.layer_norm(X)).view(docs, slots, steps, -1)
        return states, copied.view(docs, slots, steps, -1)

    def generate(self, states: Tensor) -> Tensor:
        """The probability that the next word is not copied."""
        p: Tensor = self.p_gen_linear(states).sigmoid()[..., 0]
        return p

    def logits(self, states: Tensor) -> Tensor:
        """Scores of all words of the vocabulary."""
        scores: Tensor = self.output_layer(states)
        return scores


class DecoderLayer(nn.Module):
    """Self-attention, attention to the document, and an inner layer."""

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        width, heads = settings.width, settings.heads
        self.dropout = settings.dropout
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.self_attn = Attention(width, heads, settings.dropout)
        self.encoder_attn_layer_norm = nn.LayerNorm(width)
        self.encoder_attn = Attention(width, heads, settings.dropout)
        self.final_layer_norm = nn.LayerNorm(width)
        self.ffn = make_inner(settings)

    def forward(
        self,
        X: Tensor,
        number: int,
        seen: Tensor,
        memory: Memory,
        past: Optional[Past],
        docs: int,
        last: bool,
    ) -> Tuple[Tensor, Tensor]:
        normed = self.self_attn_layer_norm(X)
        looked_at = self.self_attn.keys_values(normed)
        if past is not None:
            looked_at = past.add(number, looked_at)
        X = X + self._drop(self.self_attn(normed, looked_at, seen))
        normed = self.encoder_attn_layer_norm(X)
        # The slots of a document look at it together.
        together = normed.reshape(docs, -1, normed.shape[-1])
        keys_values = memory.keys_values[number]
        mixed = self.encoder_attn(together, keys_values, memory.mask[:, None, None])
        X = X + self._drop(mixed.reshape(X.shape))
        X = X + self.ffn(self.final_layer_norm(X))
        if not last:
            return X, X.new_zeros(0)
        return X, self.encoder_attn.weights_of_head(
            together, keys_values[0], memory.mask
        )

    def _drop(self, X: Tensor) -> Tensor:
        return nn.functional.dropout(X, self.dropout, self.training)


def make_inner(settings: SetTransSettings) -> nn.Sequential:
    """The inner layer: wider, rectified, dropped out."""
    return nn.Sequential(
        nn.Linear(settings.width, settings.inner),
        nn.ReLU(),
        nn.Dropout(settings.dropout),
        nn.Linear(settings.inner, settings.width),
        nn.Dropout(settings.dropout),
    )
