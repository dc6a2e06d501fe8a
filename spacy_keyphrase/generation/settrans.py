"""SetTrans: a set of keyphrases at once, each from a slot with its own control code
(One2Set, Ye et al. 2021, section 3)."""

from dataclasses import dataclass
from functools import cached_property
from typing import List, Tuple

import torch
from torch import Tensor, nn

from .attention import KeysValues
from .settrans_layers import Decoder, Encoder, Packed, Past, Seen, SetTransSettings

__all__ = ["Memory", "Next", "Packed", "Past", "SetTrans", "SetTransSettings"]


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
        if settings.tied:
            self.decoder.output_layer.weight = self.embed.weight

    def encode(self, ids: Tensor, extended: Tensor, mask: Tensor) -> Memory:
        """Read documents.

        ids (Tensor): Words, int of shape (docs, length).
        extended (Tensor): The same, those outside the vocabulary numbered behind it.
        mask (Tensor): What is no padding, bool.
        """
        states = self.encoder(self.embed(ids), mask)
        n_extra = max(int(extended.max()) + 1 - self.settings.vocabulary, 0)
        return Memory(mask, extended, n_extra, self.decoder.look_at(states))

    def next(
        self, memory: Memory, words: Tensor, slots: Tensor, steps: Tensor, seen: Seen
    ) -> "Next":
        """What comes after words.

        memory (Memory): The documents.
        words (Tensor): The words, int of shape (docs, words); those outside the
            vocabulary are unknown words.
        slots (Tensor): The slot of each, int of the same shape or of shape (words,).
        steps (Tensor): Its place there, int of such a shape.
        seen (Seen): What is before each.
        """
        states, copied = self.decoder(
            self.embed(words), slots, steps, memory.keys_values, memory.mask, seen
        )
        return Next(
            logits=self.decoder.output_layer(states).float(),
            generate=self.decoder.p_gen_linear(states).float().sigmoid()[..., 0],
            copied=copied.float(),
            memory=memory,
        )


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
    def _log_sum(self) -> Tensor:
        return self.logits.logsumexp(-1, keepdim=True)

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
        copied: Tensor = self.copied @ same.to(self.copied.dtype)
        return known + (1 - self.generate)[..., None] * copied

    def top(self, k: int) -> Tuple[Tensor, Tensor]:
        """The likeliest words of the extended vocabulary in each row.

        k (int): How many.
        RETURNS (Tuple[Tensor, Tensor]): Their probabilities, the highest first, and the
            words, both of shape (docs, rows, k).
        """
        # Copying makes no word less likely: the likeliest are words of the document, or
        # among the likeliest of the vocabulary alone.
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
        rows)."""
        return self.memory.extended.gather(1, self.copied.argmax(-1))

    def whole(self) -> Tensor:
        """The probabilities of all words of the extended vocabulary, float of shape
        (docs, rows, vocabulary + extra)."""
        generate = self.generate[..., None]
        known = generate * (self.logits - self._log_sum).exp()
        whole = nn.functional.pad(known, (0, self.memory.n_extra))
        at = self.memory.extended[:, None].expand(*self.copied.shape)
        mixed: Tensor = whole.scatter_add(-1, at, (1 - generate) * self.copied)
        return mixed

    def _known(self, words: Tensor) -> Tensor:
        """The part of the vocabulary in the probabilities of words, of shape (docs,
        rows, words)."""
        vocabulary = self.logits.shape[-1]
        logits = self.logits.gather(-1, words.clamp(max=vocabulary - 1))
        p = (logits - self._log_sum).exp()
        p = p.masked_fill(words >= vocabulary, 0)
        return self.generate[..., None] * p


def _first_occurrences(words: Tensor) -> Tensor:
    """Whether a word has not been in its row before; bool of the shape of words."""
    same = words[:, :, None] == words[:, None]
    return ~same.tril(-1).any(-1)
