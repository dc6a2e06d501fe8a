"""What each slot is taught."""

from dataclasses import dataclass
from typing import List, NamedTuple, Sequence

import numpy
import torch
from torch import Tensor

from ..training.assignment import NONE, Assignment, Candidates
from .set_model import Memory, Next, Packed, Past, SetModel, Specials

# Words of a keyphrase, of the extended vocabulary.
Phrase = Sequence[int]


@dataclass(frozen=True)
class SlotSettings:
    """How slots are taught.

    assign (Assignment): Which slot learns which target.
    length (int): Words of a slot, the end included; longer targets are left out.
    steps (int): By how many words of a slot it is assigned a target.
    null_present, null_absent (float): Weight of the null token in the loss of the
        slots of present and of absent keyphrases.
    """

    assign: Assignment
    length: int = 6
    steps: int = 2
    null_present: float = 0.2
    null_absent: float = 0.1

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= self.length:
            raise ValueError(
                f"assign_by is {self.steps}; it must be between 1 and the length of a "
                f"slot, {self.length}."
            )


class Words(NamedTuple):
    """The words that the slots of documents are taught, those of a document in one row;
    int of shape (docs, words).

    before (Tensor): The word before each, unknown if it is outside the vocabulary.
    target (Tensor): The word, padding where a document has no more.
    slot (Tensor): Its slot.
    step (Tensor): Its place there.
    """

    before: Tensor
    target: Tensor
    slot: Tensor
    step: Tensor


def slot_loss(
    model: SetModel,
    memory: Memory,
    present: Sequence[Sequence[Phrase]],
    absent: Sequence[Sequence[Phrase]],
    settings: SlotSettings,
) -> Tensor:
    """The loss of One2Set: minus the weighted log-probability of what slots are taught,
    over the number of its words.

    model (SetModel): In training or not; targets are assigned by the decoder as if it
        were not.
    memory (Memory): The documents.
    present, absent (Sequence[Sequence[Phrase]]): Of each document its keyphrases.
    settings (SlotSettings): How slots are taught.
    RETURNS (Tensor): A number.
    """
    end = model.specials.end
    halves = [
        [fit(doc, settings.length, end) for doc in docs] for docs in (present, absent)
    ]
    targets = assign_targets(model, memory, halves, settings)
    words = pack(targets, model)
    log_p = read(model, memory, words).log_probabilities(words.target)
    absent_ones = words.slot >= model.slots // 2
    weights = word_weights(words.target, absent_ones, model.specials, settings)
    return weighted_loss(log_p, weights)


def read(model: SetModel, memory: Memory, words: Words) -> Next:
    """What comes where slots are taught words."""
    seen = Packed(words.slot, words.step)
    return model.next(memory, words.before, words.slot, words.step, seen)


def fit(phrases: Sequence[Phrase], length: int, end: int) -> List[List[int]]:
    """Phrases with their ends, those that no slot can hold left out."""
    return [[*phrase, end] for phrase in phrases if 0 < len(phrase) < length]


def pack(targets: Tensor, model: SetModel) -> Words:
    """What slots are taught, without padding between the slots.

    targets (Tensor): Int of shape (docs, slots, steps).
    model (SetModel): Which is taught them.
    """
    before = targets.roll(1, dims=-1)
    before[..., 0] = model.specials.begin
    steps = targets.shape[2]
    real = targets.ne(model.specials.pad).flatten(1)
    most = int(real.sum(1).max())
    order = real.int().argsort(dim=1, descending=True, stable=True)[:, :most]
    return Words(
        model.readable(before.flatten(1).gather(1, order)),
        targets.flatten(1).gather(1, order),
        order // steps,
        order % steps,
    )


def word_weights(
    targets: Tensor, absent: Tensor, specials: Specials, settings: SlotSettings
) -> Tensor:
    """How much words that slots are taught weigh; padding nothing.

    targets (Tensor): The words, int of any shape.
    absent (Tensor): Whether it is one of a slot of absent keyphrases, bool.
    specials (Specials): Special words.
    settings (SlotSettings): How slots are taught.
    RETURNS (Tensor): Float of the shape of targets.
    """
    weights = targets.ne(specials.pad).float()
    null = targets == specials.null
    weights = weights.masked_fill(null & ~absent, settings.null_present)
    return weights.masked_fill(null & absent, settings.null_absent)


def weighted_loss(log_p: Tensor, weights: Tensor) -> Tensor:
    """Minus the weighted sum of log-probabilities, over the number of words.

    log_p (Tensor): Float of any shape.
    weights (Tensor): Of the same shape, 0 where there is no word.
    """
    total: Tensor = -(log_p * weights).sum() / (weights != 0).sum().clamp(min=1)
    return total


@torch.no_grad()
def assign_targets(
    model: SetModel,
    memory: Memory,
    halves: Sequence[Sequence[List[List[int]]]],
    settings: SlotSettings,
) -> Tensor:
    """What each slot is taught.

    model (SetModel): The model; without dropout here.
    memory (Memory): The documents.
    halves (Sequence[Sequence[List[List[int]]]]): Of each half of the slots, of each
        document, the targets with their ends.
    settings (SlotSettings): How slots are taught.
    RETURNS (Tensor): Int of shape (docs, slots, length); slots without a target have
        the null token.
    """
    device = memory.mask.device
    docs, slots = len(memory.mask), model.slots
    half, steps = slots // 2, settings.steps
    most = max((len(doc) for docs_ in halves for doc in docs_), default=0)
    rows = numpy.full((docs, 2, most + 1, settings.length), model.specials.pad)
    null, pad = model.specials.null, model.specials.pad
    rows[:, :, most, 0] = null
    for h, of_half in enumerate(halves):
        for d, targets in enumerate(of_half):
            for r, target in enumerate(targets):
                rows[d, h, r, : len(target)] = target
    wanted = torch.from_numpy(rows[..., :steps]).to(device).flatten(1, 2)
    found = numpy.zeros((docs, 2, most + 1, half, steps))
    numbers = torch.arange(slots, device=device)
    training = model.training
    model.eval()
    try:
        words = torch.full((docs, slots), model.specials.begin, device=device)
        past = Past()
        for step in range(steps):
            places = torch.full_like(numbers, step)
            after = model.next(memory, words, numbers, places, past)
            p = after.probabilities(wanted[..., step])
            p = p.view(docs, 2, half, 2, most + 1).transpose(3, 4)
            # Each half of the slots has targets of its own.
            own = torch.stack([p[:, 0, ..., 0], p[:, 1, ..., 1]], dim=1)
            found[..., step] = own.transpose(2, 3).double().cpu().numpy()
            words = model.readable(after.top(1)[1][..., 0])
    finally:
        model.train(training)
    # Where weights are no numbers, the loss will be none: nothing is assigned.
    sane = numpy.isfinite(found).all()
    taught = numpy.full((docs, slots, settings.length), pad)
    taught[..., 0] = null
    for h, of_half in enumerate(halves):
        for d, targets in enumerate(of_half):
            n = len(targets)
            if not n or not sane:
                continue
            inside = rows[d, h, :n, :steps] != pad
            of_slots = settings.assign(
                Candidates(found[d, h, :n], inside, found[d, h, most])
            )
            for slot in numpy.flatnonzero(of_slots != NONE):
                taught[d, h * half + slot] = rows[d, h, of_slots[slot]]
    return torch.from_numpy(taught).to(device)
