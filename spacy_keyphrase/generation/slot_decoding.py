"""What slots write: the likeliest words, or more for recall."""

from dataclasses import dataclass
from typing import List, NamedTuple, Sequence

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
    """

    length: int = 6
    beams: int = 1
    samples: int = 0
    temperature: float = 1.0

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
    ways = [_Rows(model, memory, decoding.beams)]
    ways[0].search(decoding)
    if decoding.samples:
        ways.append(_Rows(model, memory, decoding.samples))
        ways[1].draw(decoding, seeds)
    for rows in ways:
        words = rows.words.where(rows.words != model.specials.unknown, rows.copied)
        slots = rows.slots.tolist()
        for doc, ids, p in zip(written, words.tolist(), rows.p.tolist()):
            doc.extend(read_slots(slots, ids, p, model.specials))
    return [sorted(doc, key=lambda phrase: -phrase.confidence) for doc in written]


class _Rows:
    """What slots write, each in one row or in several.

    model (SetModel): The model.
    memory (Memory): The documents.
    each (int): Rows of a slot.
    """

    def __init__(self, model: SetModel, memory: Memory, each: int) -> None:
        docs, device = len(memory.mask), memory.mask.device
        n = model.slots
        self.model, self.memory, self.each = model, memory, each
        self.past = Past()
        self.slots = torch.arange(n, device=device).repeat_interleave(each)
        # Of shape (docs, rows, words): words, their probabilities, what would have been
        # copied.
        self.words = torch.zeros((docs, n * each, 0), device=device).long()
        self.p = torch.zeros(self.words.shape, device=device)
        self.copied = self.words
        self.done = torch.zeros(self.words.shape[:2], device=device, dtype=torch.bool)

    def search(self, decoding: Decoding) -> None:
        """Write the likeliest words; in several rows, the likeliest phrases."""
        beams = self.each
        shape = (*self.done.shape[:1], self.model.slots, beams)
        # All rows of a slot begin alike, so that only one of them counts.
        scores = self.p.new_full(shape, float("-inf"))
        scores[..., 0] = 0
        for _ in range(decoding.length):
            after = self._next()
            p, words = after.top(beams)
            if beams > 1:
                # What has ended goes on in one way: with padding.
                p = p.masked_fill(self.done[..., None], 0)
                p[..., 0].masked_fill_(self.done, 1)
                on = scores[..., None] + p.view(*shape, beams).clamp(min=1e-30).log()
                scores, at = on.flatten(2).topk(beams)
                self._keep(at // beams)
                words = words.view(*shape[:2], -1).gather(-1, at).flatten(1)
                p = p.view(*shape[:2], -1).gather(-1, at).flatten(1)
            else:
                words, p = words[..., 0], p[..., 0]
            copied = after.copied_words()
            if beams > 1:
                copied = copied.view(shape).gather(-1, at // beams).flatten(1)
            if self._add(words, p, copied):
                break

    def draw(self, decoding: Decoding, seeds: Sequence[int]) -> None:
        """Draw each word by its probability."""
        # Each document has random numbers of its own: what is drawn for it does not
        # depend on the others.
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        shape = (self.done.shape[1], LIKELIEST)
        for _ in range(decoding.length):
            after = self._next()
            p, words = after.top(LIKELIEST)
            uniform = torch.stack([torch.rand(shape, generator=g) for g in generators])
            noise = -(-uniform.clamp(1e-9, 1 - 1e-7).log()).log()
            keys = p.clamp(min=1e-30).log() / decoding.temperature + noise.to(p.device)
            at = keys.argmax(-1, keepdim=True)
            words, p = words.gather(-1, at)[..., 0], p.gather(-1, at)[..., 0]
            if self._add(words, p, after.copied_words()):
                break

    def _next(self) -> Next:
        step = self.words.shape[2]
        begin = self.model.specials.begin
        words = torch.full_like(self.done, begin, dtype=torch.long)
        if step:
            words = self.model.readable(self.words[..., -1])
        places = torch.full_like(self.slots, step)
        return self.model.next(self.memory, words, self.slots, places, self.past)

    def _keep(self, rows: Tensor) -> None:
        """Go on with some rows of each slot, by their numbers there."""
        docs, slots, each = rows.shape
        first = torch.arange(slots, device=rows.device)[None, :, None] * each
        of_docs = (first + rows).flatten(1)
        at = of_docs[..., None].expand(-1, -1, self.words.shape[2])
        self.words, self.p = self.words.gather(1, at), self.p.gather(1, at)
        self.copied = self.copied.gather(1, at)
        self.done = self.done.gather(1, of_docs)
        docs_first = torch.arange(docs, device=rows.device)[:, None] * slots * each
        self.past.keep((docs_first + of_docs).flatten())

    def _add(self, words: Tensor, p: Tensor, copied: Tensor) -> bool:
        """One word more in each row; whether all have ended."""
        specials = self.model.specials
        words = words.masked_fill(self.done, specials.pad)
        self.words = torch.cat([self.words, words[..., None]], dim=2)
        self.p = torch.cat([self.p, p[..., None]], dim=2)
        self.copied = torch.cat([self.copied, copied[..., None]], dim=2)
        self.done = self.done | (words == specials.end) | (words == specials.null)
        return bool(self.done.all())


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
