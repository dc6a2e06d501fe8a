"""Models that write in slots: what they have in common."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, List, NamedTuple, Optional, Protocol, Tuple

import torch
from torch import Tensor, nn

from ..devices import mixed
from .attention import KeysValues


class Specials(NamedTuple):
    """Special words.

    pad (int): Behind the end of what a slot is taught.
    begin (int): What a slot begins with.
    end (int): What a keyphrase ends with.
    null (int): What a slot writes that has no keyphrase.
    unknown (int): A word that is not known; -1 if there is none.
    """

    pad: int
    begin: int
    end: int
    null: int
    unknown: int


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


class Seen(Protocol):
    """What words see of the words before them."""

    def distances(self) -> Tensor:
        """How far words are behind those that they may see: int of shape (docs, words,
        words), or of shape (1, 1, words) where one word of a row is added."""

    def attend(
        self,
        layer: int,
        Q: Tensor,
        K: Tensor,
        V: Tensor,
        *,
        bias: Optional[Tensor] = None,
        scale: Optional[float] = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Look from words at themselves and what is before them.

        layer (int): Number of the layer.
        Q, K, V (Tensor): Queries, keys and values, float of shape (docs, heads, words,
            width of a head).
        bias (Optional[Tensor]): Added to the scores, float of shape (docs or 1, heads,
            words or 1, words).
        scale (Optional[float]): Of the scores; by default that of Vaswani et al. 2017.
        dropout (float): Of the weights.
        RETURNS (Tensor): Float of the shape of Q.
        """


class Packed:
    """The words of all slots of a document in one row.

    slots, steps (Tensor): The slot of each word and its place there, int of shape
        (docs, words).
    """

    def __init__(self, slots: Tensor, steps: Tensor) -> None:
        same = slots[:, :, None] == slots[:, None]
        self.mask = (same & (steps[:, :, None] >= steps[:, None]))[:, None]
        self.steps = steps

    def distances(self) -> Tensor:
        """Of all pairs; below 0 where one does not see the other."""
        return self.steps[:, :, None] - self.steps[:, None]

    def attend(
        self,
        layer: int,
        Q: Tensor,
        K: Tensor,
        V: Tensor,
        *,
        bias: Optional[Tensor] = None,
        scale: Optional[float] = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Words see those before them in their slot."""
        mask = self.mask
        if bias is not None:
            mask = bias.masked_fill(~mask, float("-inf"))
        looked: Tensor = nn.functional.scaled_dot_product_attention(
            Q, K, V, attn_mask=mask, dropout_p=dropout, scale=scale
        )
        return looked


class Past:
    """The keys and values of what was written, layer by layer; one word of each row is
    added at a time."""

    def __init__(self) -> None:
        self.keys_values: List[KeysValues] = []

    @property
    def steps(self) -> int:
        """How many words each row has."""
        return self.keys_values[0][0].shape[2] if self.keys_values else 0

    def distances(self) -> Tensor:
        """Of the words of a row from the one that is added."""
        return torch.arange(self.steps, -1, -1)[None, None]

    def attend(
        self,
        layer: int,
        Q: Tensor,
        K: Tensor,
        V: Tensor,
        *,
        bias: Optional[Tensor] = None,
        scale: Optional[float] = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Each word sees all of its row."""
        new = _by_row(K), _by_row(V)
        if layer == len(self.keys_values):
            self.keys_values.append(new)
        else:
            old = self.keys_values[layer]
            joined = [torch.cat(pair, dim=2) for pair in zip(old, new)]
            self.keys_values[layer] = joined[0], joined[1]
        looked = nn.functional.scaled_dot_product_attention(
            _by_row(Q), *self.keys_values[layer], attn_mask=bias, scale=scale
        )
        docs, heads, rows, width = Q.shape
        return looked.view(docs, rows, heads, width).transpose(1, 2)

    def keep(self, rows: Tensor) -> None:
        """Go on with some rows, as often as they are named.

        rows (Tensor): Their numbers, those of all documents one after the other, int of
            shape (docs * rows,).
        """
        self.keys_values = [(k[rows], v[rows]) for k, v in self.keys_values]


def _by_row(X: Tensor) -> Tensor:
    """From (docs, heads, rows, width) to (docs * rows, heads, 1, width): in attention
    to themselves rows are as documents are."""
    return X.transpose(1, 2).flatten(0, 1)[:, :, None]


@dataclass
class Next:
    """The words that may come next: of the vocabulary, or copied from the document.

    logits (Tensor): Of the vocabulary, float of shape (docs, rows, vocabulary).
    generate (Tensor): The probability that a word is not copied, float of shape (docs,
        rows).
    copied (Tensor): Which word is, float of shape (docs, rows, length).
    memory (Memory): The documents.
    """

    logits: Tensor
    generate: Tensor
    copied: Tensor
    memory: Memory

    @cached_property
    def _log_p(self) -> Tensor:
        # One pass over the vocabulary each way, which is most of what training costs.
        return self.logits.log_softmax(-1)

    def log_probabilities(self, targets: Tensor) -> Tensor:
        """The logarithms of the probabilities of words of the extended vocabulary, one
        a row: float of shape (docs, rows)."""
        known = self._known(targets[..., None])[..., 0]
        same = self.memory.extended[:, None] == targets[..., None]
        copied = (1 - self.generate) * (self.copied * same).sum(-1)
        log_p: Tensor = (known + copied + 1e-8).log()
        return log_p

    def probabilities(self, words: Tensor) -> Tensor:
        """The probabilities of words in each row.

        words (Tensor): Of the extended vocabulary, int of shape (docs, words).
        RETURNS (Tensor): Float of shape (docs, rows, words).
        """
        rows = self.logits.shape[1]
        known = self._known(words[:, None].expand(-1, rows, -1))
        same = self.memory.extended[:, :, None] == words[:, None]
        # Not in 16 bits: these are the probabilities that words are chosen by.
        with mixed(self.copied.device, False):
            copied: Tensor = self.copied @ same.to(self.copied.dtype)
        return known + (1 - self.generate)[..., None] * copied

    def top(self, k: int) -> Tuple[Tensor, Tensor]:
        """The likeliest words of the extended vocabulary in each row.

        k (int): How many, at most as many as the vocabulary has.
        RETURNS (Tuple[Tensor, Tensor]): Their probabilities, the highest first, and the
            words, both of shape (docs, rows, k).
        """
        # Copying makes no word less likely: the likeliest are words of the document, or
        # among the likeliest of the vocabulary alone.
        k = min(k, self.logits.shape[-1])
        known = self.logits.topk(k).indices
        p_known = self._known(known)
        extended = self.memory.extended
        p_document = self.probabilities(extended)
        first = _first_occurrences(extended) & self.memory.mask
        p_document = p_document.masked_fill(~first[:, None], -1)
        if k > 1:
            twice = (known[..., None] == extended[:, None, None]).any(-1)
            p_known = p_known.masked_fill(twice, -1)
        in_document = extended[:, None].expand(-1, known.shape[1], -1)
        p, at = torch.cat([p_document, p_known], dim=-1).topk(k)
        return p, torch.cat([in_document, known], dim=-1).gather(-1, at)

    def copied_words(self) -> Tensor:
        """The word of the document that each row would copy, int of shape (docs,
        rows); 0 where none can be copied."""
        if not self.copied.shape[-1]:
            return torch.zeros_like(self.generate, dtype=torch.long)
        return self.memory.extended.gather(1, self.copied.argmax(-1))

    def whole(self) -> Tensor:
        """The probabilities of all words of the extended vocabulary, float of shape
        (docs, rows, vocabulary + extra)."""
        generate = self.generate[..., None]
        known = generate * self._log_p.exp()
        whole = nn.functional.pad(known, (0, self.memory.n_extra))
        at = self.memory.extended[:, None].expand(*self.copied.shape)
        mixed: Tensor = whole.scatter_add(-1, at, (1 - generate) * self.copied)
        return mixed

    def _known(self, words: Tensor) -> Tensor:
        """The part of the vocabulary in the probabilities of words, of shape (docs,
        rows, words)."""
        vocabulary = self.logits.shape[-1]
        p = self._log_p.gather(-1, words.clamp(max=vocabulary - 1)).exp()
        p = p.masked_fill(words >= vocabulary, 0)
        return self.generate[..., None] * p


def _first_occurrences(words: Tensor) -> Tensor:
    """Whether a word has not been in its row before; bool of the shape of words."""
    same = words[:, :, None] == words[:, None]
    return ~same.tril(-1).any(-1)


class SetModel(Protocol):
    """A model that writes in slots, the first half of them present keyphrases."""

    training: bool

    @property
    def slots(self) -> int:
        """How many slots there are."""

    @property
    def specials(self) -> Specials:
        """Special words."""

    def readable(self, words: Tensor) -> Tensor:
        """Words as the model reads what was written."""

    def next(
        self, memory: Memory, words: Tensor, slots: Tensor, steps: Tensor, seen: Seen
    ) -> Next:
        """What comes after words; see `SetTrans.next`."""

    def train(self, mode: bool = True) -> Any:
        """Whether it is in training."""

    def eval(self) -> Any:
        """It is not."""
