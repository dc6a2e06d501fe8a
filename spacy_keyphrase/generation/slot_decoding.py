"""What slots write: the likeliest words, or more for recall."""

from dataclasses import dataclass
from typing import Any, List, NamedTuple, Sequence, Tuple

import torch
from torch import Tensor

from .set_model import Memory, Next, Past, SetModel, Specials

# Of which a sampled word is one.
LIKELIEST = 20


@dataclass(frozen=True)
class Decoding:
    """How slots write.

    length (int): Words of a slot, the end included.
    beams (int): Phrases that each slot writes, the likeliest ones; 1 is greedy.
    samples (int): Phrases that each slot draws besides.
    temperature (float): Of the draws; the higher, the more unlike they are.
    repeats (bool): Whether a word may follow itself.
    """

    length: int = 6
    beams: int = 1
    samples: int = 0
    temperature: float = 1.0
    repeats: bool = True

    def __post_init__(self) -> None:
        if self.length < 2 or self.beams < 1 or self.samples < 0:
            raise ValueError(
                f"length is {self.length}, beams {self.beams}, samples {self.samples}; "
                "a slot has two words at least, one of them the end, one beam at "
                "least, and no fewer than 0 samples."
            )
        if self.temperature <= 0:
            raise ValueError(f"temperature is {self.temperature}; it must be above 0.")


class Written(NamedTuple):
    """What a slot has written.

    words (List[int]): Of the extended vocabulary.
    confidence (float): Mean of their probabilities.
    slot (int): Its number.
    """

    words: List[int]
    confidence: float
    slot: int


@torch.inference_mode()
def write(
    model: SetModel, memory: Memory, decoding: Decoding, seeds: Sequence[int]
) -> List[List[Written]]:
    """Let all slots write.

    model (SetModel): The model, not in training.
    memory (Memory): The documents.
    decoding (Decoding): How.
    seeds (Sequence[int]): Of the draws, one a document.
    RETURNS (List[List[Written]]): Of each document what its slots wrote, the most
        confident first; slots that wrote nothing are left out.
    """
    written: List[List[Written]] = [[] for _ in seeds]
    ways = [_Rows(model, memory, decoding.beams, decoding.repeats)]
    ways[0].search(decoding.length)
    if decoding.samples:
        ways.append(_Rows(model, memory, decoding.samples, decoding.repeats))
        ways[1].draw(decoding.length, decoding.temperature, seeds)
    for rows in ways:
        slots = [n for n in range(model.slots) for _ in range(rows.each)]
        for doc, ids, p in zip(written, *rows.results(decoding.length)):
            doc.extend(read_slots(slots, ids, p, model.specials))
    return [sorted(doc, key=lambda phrase: -phrase.confidence) for doc in written]


class _Rows:
    """What slots write, each in one row or in several. Slots all of whose rows have
    ended are put aside.

    model (SetModel): The model.
    memory (Memory): The documents.
    each (int): Rows of a slot.
    repeats (bool): Whether a word may follow itself.
    """

    def __init__(
        self, model: SetModel, memory: Memory, each: int, repeats: bool
    ) -> None:
        docs, device = len(memory.mask), memory.mask.device
        self.model, self.memory, self.each = model, memory, each
        self.repeats = repeats
        self.past = Past()
        # The slots that are written, int of shape (docs, slots).
        self.slots = torch.arange(model.slots, device=device).expand(docs, -1)
        # Of shape (docs, slots, rows, words): words, their probabilities, and what
        # would have been copied; the first also as a result, of all slots.
        shape = (docs, model.slots, each)
        self.words = torch.zeros((*shape, 0), dtype=torch.long, device=device)
        self.p = torch.zeros((*shape, 0), device=device)
        self.copied = self.words
        self.done = torch.zeros(shape, dtype=torch.bool, device=device)
        self.aside: List[Tuple[Tensor, Tensor, Tensor]] = []
        # All rows of a slot begin alike, so that only one of them counts.
        self.scores = torch.full(shape, float("-inf"), device=device)
        self.scores[..., 0] = 0

    def search(self, length: int) -> None:
        """Write the likeliest words; in several rows, the likeliest phrases."""
        for _ in range(length):
            after = self._next()
            p, words = self._top(after, self.each)
            copied = after.copied_words().view(self.done.shape)
            if self.each == 1:
                words, p = words[..., 0], p[..., 0]
            else:
                # What has ended goes on in one way: with padding.
                p = p.masked_fill(self.done[..., None], 0)
                p[..., 0].masked_fill_(self.done, 1)
                on = self.scores[..., None] + p.clamp(min=1e-30).log()
                self.scores, at = on.flatten(2).topk(self.each)
                row = at // self.each
                self._pick(row)
                words, p = (part.flatten(2).gather(2, at) for part in (words, p))
                copied = copied.gather(2, row)
            if self._add(words, p, copied):
                break

    def draw(self, length: int, temperature: float, seeds: Sequence[int]) -> None:
        """Draw each word by its probability."""
        # Each document has random numbers of its own: what is drawn for it does not
        # depend on the others, nor on which of its slots are put aside.
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        shape = (self.model.slots, self.each, LIKELIEST)
        for _ in range(length):
            after = self._next()
            p, words = self._top(after, LIKELIEST)
            uniform = torch.stack([torch.rand(shape, generator=g) for g in generators])
            uniform = uniform.clamp(1e-9, 1 - 1e-7).to(p.device)
            at = self.slots[..., None, None].expand_as(p)
            noise = -(-uniform.gather(1, at).log()).log()
            keys = p.clamp(min=1e-30).log() / temperature + noise
            best = keys.argmax(-1, keepdim=True)
            words, p = (part.gather(-1, best)[..., 0] for part in (words, p))
            if self._add(words, p, after.copied_words().view(self.done.shape)):
                break

    def results(self, length: int) -> Tuple[List[Any], List[Any]]:
        """The words and their probabilities, of each document, of each row."""
        self._put_aside()
        docs, slots = len(self.slots), self.model.slots
        shape = (docs, slots, self.each, length)
        words = torch.full(shape, self.model.specials.pad, device=self.words.device)
        p = torch.zeros(shape, device=self.p.device)
        # What is put aside later is further.
        for numbers, ids, values in self.aside:
            n = ids.shape[-1]
            at = numbers[..., None, None].expand_as(ids)
            words[..., :n].scatter_(1, at, ids)
            p[..., :n].scatter_(1, at, values)
        return words.flatten(1, 2).tolist(), p.flatten(1, 2).tolist()

    def _next(self) -> Next:
        """What may come next in each row, those of a document one after the other."""
        step = self.words.shape[-1]
        if step:
            words = self.model.readable(self.words[..., -1])
        else:
            begin = self.model.specials.begin
            words = torch.full_like(self.done, begin, dtype=torch.long)
        slots = self.slots[..., None].expand_as(words).flatten(1)
        places = torch.full_like(slots, step)
        return self.model.next(self.memory, words.flatten(1), slots, places, self.past)

    def _top(self, after: Next, k: int) -> Tuple[Tensor, Tensor]:
        """The likeliest words of each row and their probabilities, of shape (docs,
        slots, rows, k)."""
        check = not self.repeats and self.words.shape[-1] > 0
        found = after.top(k + 1 if check else k)
        p, words = (part.view(*self.done.shape, -1) for part in found)
        if check:
            p = p.masked_fill(words == self.words[..., -1:], 0)
            p, at = p.topk(min(k, p.shape[-1]))
            words = words.gather(-1, at)
        return p, words

    def _add(self, words: Tensor, p: Tensor, copied: Tensor) -> bool:
        """One word more in each row; whether all have ended."""
        specials = self.model.specials
        words = words.masked_fill(self.done, specials.pad)
        self.words = torch.cat([self.words, words[..., None]], dim=3)
        self.p = torch.cat([self.p, p[..., None]], dim=3)
        self.copied = torch.cat([self.copied, copied[..., None]], dim=3)
        self.done = self.done | (words == specials.end) | (words == specials.null)
        ended = self.done.all(-1)
        most = int((~ended).sum(1).max())
        if 0 < most < self.slots.shape[1]:
            # Documents with fewer slots to go on with keep some that have ended.
            self._put_aside()
            self._go_on(ended.int().argsort(dim=1, stable=True)[:, :most])
        return most == 0

    def _put_aside(self) -> None:
        shown = self.words.where(self.words != self.model.specials.unknown, self.copied)
        self.aside.append((self.slots, shown, self.p))

    def _go_on(self, slots: Tensor) -> None:
        """Go on with some slots of each document, by their places."""
        self._keep_past(slots[..., None] * self.each + _range(self.each, slots))
        self.slots = self.slots.gather(1, slots)
        for name in ("words", "p", "copied", "done", "scores"):
            values = getattr(self, name)
            at = slots.view(*slots.shape, *[1] * (values.dim() - 2))
            setattr(self, name, values.gather(1, at.expand(-1, -1, *values.shape[2:])))

    def _pick(self, row: Tensor) -> None:
        """Go on with some rows of each slot, int of shape (docs, slots, rows)."""
        first = self.each * _range(row.shape[1], row)[:, None]
        self._keep_past(first + row)
        at = row[..., None].expand(-1, -1, -1, self.words.shape[3])
        self.words, self.p = self.words.gather(2, at), self.p.gather(2, at)
        self.copied = self.copied.gather(2, at)
        self.done = self.done.gather(2, row)

    def _keep_past(self, rows: Tensor) -> None:
        """Go on with some rows of each document, by their places among all of it."""
        docs = len(rows)
        n = self.slots.shape[1] * self.each
        first = n * _range(docs, rows)[:, None]
        self.past.keep((first + rows.flatten(1)).flatten())


def _range(n: int, like: Tensor) -> Tensor:
    return torch.arange(n, device=like.device)


def read_slots(
    slots: Sequence[int],
    ids: Sequence[Sequence[int]],
    probabilities: Sequence[Sequence[float]],
    specials: Specials,
) -> List[Written]:
    """From what the slots of a document wrote, word for word, to phrases.

    slots (Sequence[int]): The slot of each row.
    ids (Sequence[Sequence[int]]): Its words.
    probabilities (Sequence[Sequence[float]]): Of each word.
    specials (Specials): Special words.
    """
    written = []
    for slot, words, values in zip(slots, ids, probabilities):
        end = specials.end
        n = words.index(end) if end in words else len(words)
        if n and specials.null not in words[:n]:
            written.append(Written(list(words[:n]), sum(values[:n]) / n, slot))
    return written
