"""What each slot is taught, and what slots have written."""

from dataclasses import dataclass
from typing import List, NamedTuple, Sequence, Tuple

import numpy
import torch
from torch import Tensor

from ..training.assignment import NONE, Assignment, Candidates
from .settrans import Memory, Past, SetTrans
from .vocabulary import BEGIN, END, NULL, PAD, UNKNOWN

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


class Written(NamedTuple):
    """What a slot has written.

    words (List[int]): Of the extended vocabulary.
    confidence (float): Mean of their probabilities.
    slot (int): Its number.
    """

    words: List[int]
    confidence: float
    slot: int


def slot_loss(
    model: SetTrans,
    memory: Memory,
    present: Sequence[Sequence[Phrase]],
    absent: Sequence[Sequence[Phrase]],
    settings: SlotSettings,
) -> Tensor:
    """The loss of One2Set: minus the weighted log-probability of what slots are taught,
    over the number of its words.

    model (SetTrans): In training or not; targets are assigned as if it were not.
    memory (Memory): The documents.
    present, absent (Sequence[Sequence[Phrase]]): Of each document its keyphrases.
    settings (SlotSettings): How slots are taught.
    RETURNS (Tensor): A number.
    """
    halves = [[fit(doc, settings.length) for doc in docs] for docs in (present, absent)]
    targets = assign_targets(model, memory, halves, settings)
    inputs = begin(targets, model.settings.vocabulary)
    log_p = model.log_probabilities(memory, inputs, targets)
    return weighted_loss(log_p, targets, settings)


def fit(phrases: Sequence[Phrase], length: int) -> List[List[int]]:
    """Phrases with their ends, those that no slot can hold left out."""
    return [[*phrase, END] for phrase in phrases if 0 < len(phrase) < length]


def begin(targets: Tensor, vocabulary: int) -> Tensor:
    """What comes before each word; words outside the vocabulary are unknown."""
    inputs = targets.roll(1, dims=-1)
    inputs[..., 0] = BEGIN
    return inputs.masked_fill(inputs >= vocabulary, UNKNOWN)


def weighted_loss(log_p: Tensor, targets: Tensor, settings: SlotSettings) -> Tensor:
    """Minus the weighted sum of log-probabilities, over the number of words.

    log_p (Tensor): Float of shape (docs, slots, steps).
    targets (Tensor): The words, int of the same shape.
    """
    half = targets.shape[1] // 2
    weights = (targets != PAD).to(log_p.dtype)
    null = targets == NULL
    weights[:, :half][null[:, :half]] = settings.null_present
    weights[:, half:][null[:, half:]] = settings.null_absent
    total: Tensor = -(log_p * weights).sum() / (targets != PAD).sum().clamp(min=1)
    return total


@torch.no_grad()
def assign_targets(
    model: SetTrans,
    memory: Memory,
    halves: Sequence[Sequence[List[List[int]]]],
    settings: SlotSettings,
) -> Tensor:
    """What each slot is taught.

    model (SetTrans): The model; without dropout here.
    memory (Memory): The documents.
    halves (Sequence[Sequence[List[List[int]]]]): Of each half of the slots, of each
        document, the targets with their ends.
    settings (SlotSettings): How slots are taught.
    RETURNS (Tensor): Int of shape (docs, slots, length); slots without a target have
        the null token.
    """
    device = memory.mask.device
    docs, slots = len(memory.mask), model.settings.slots
    half, steps = slots // 2, settings.steps
    most = max((len(doc) for docs_ in halves for doc in docs_), default=0)
    rows = numpy.zeros((docs, 2, most + 1, settings.length), dtype="i8")
    rows[:, :, most, 0] = NULL
    for h, of_half in enumerate(halves):
        for d, targets in enumerate(of_half):
            for r, target in enumerate(targets):
                rows[d, h, r, : len(target)] = target
    wanted = torch.from_numpy(rows[..., :steps]).to(device)
    found = numpy.zeros((docs, 2, most + 1, half, steps))
    training = model.training
    model.eval()
    try:
        words = torch.full((docs, slots, 1), BEGIN, device=device)
        past = Past()
        for step in range(steps):
            p = model.distributions(memory, words, past)[:, :, 0]
            of_halves = p.view(docs, 2, half, -1)
            at = wanted[:, :, None, :, step].expand(-1, -1, half, -1)
            picked = of_halves.gather(-1, at).transpose(2, 3)
            found[..., step] = picked.double().cpu().numpy()
            words = known(p.argmax(-1), model.settings.vocabulary)[..., None]
    finally:
        model.train(training)
    taught = numpy.zeros((docs, slots, settings.length), dtype="i8")
    taught[..., 0] = NULL
    for h, of_half in enumerate(halves):
        for d, targets in enumerate(of_half):
            n = len(targets)
            if not n:
                continue
            inside = rows[d, h, :n, :steps] != PAD
            of_slots = settings.assign(
                Candidates(found[d, h, :n], inside, found[d, h, most])
            )
            for slot in numpy.flatnonzero(of_slots != NONE):
                taught[d, h * half + slot] = rows[d, h, of_slots[slot]]
    return torch.from_numpy(taught).to(device)


def known(words: Tensor, vocabulary: int) -> Tensor:
    """Words as they are read: those outside the vocabulary are unknown."""
    return words.masked_fill(words >= vocabulary, UNKNOWN)


@torch.inference_mode()
def write(model: SetTrans, memory: Memory, length: int = 6) -> List[List[Written]]:
    """Let all slots write, the likeliest word each time.

    model (SetTrans): The model, not in training.
    memory (Memory): The documents.
    length (int): Words of a slot, the end included.
    RETURNS (List[List[Written]]): Of each document what its slots wrote, the most
        confident first; slots that wrote nothing are left out.
    """
    docs, slots = len(memory.mask), model.settings.slots
    words = torch.full((docs, slots, 1), BEGIN, device=memory.mask.device)
    done = torch.zeros((docs, slots), dtype=torch.bool, device=words.device)
    past = Past()
    ids, confidences = [], []
    for _ in range(length):
        p, best = model.distributions(memory, words, past)[:, :, 0].max(-1)
        ids.append(best)
        confidences.append(p)
        done |= (best == END) | (best == NULL)
        if done.all():
            break
        words = known(best, model.settings.vocabulary)[..., None]
    all_ids = torch.stack(ids, dim=2).tolist()
    all_p = torch.stack(confidences, dim=2).tolist()
    return [read_slots(*doc) for doc in zip(all_ids, all_p)]


def read_slots(
    ids: Sequence[Sequence[int]], probabilities: Sequence[Sequence[float]]
) -> List[Written]:
    """From what the slots of a document wrote, word for word, to phrases."""
    written = []
    for slot, (words, values) in enumerate(zip(ids, probabilities)):
        phrase, scores = _until_end(words, values)
        if phrase and NULL not in phrase:
            written.append(Written(phrase, sum(scores) / len(scores), slot))
    return sorted(written, key=lambda phrase: -phrase.confidence)


def _until_end(
    words: Sequence[int], values: Sequence[float]
) -> Tuple[List[int], List[float]]:
    n = list(words).index(END) if END in words else len(words)
    return list(words[:n]), list(values[:n])
