"""Labels each in the light of those before it, in fewer passes than labels."""

from dataclasses import dataclass, field
from typing import List, Sequence, Tuple

import torch
from torch import Tensor

from ..batches import pad_rows
from .prompting import Laid, Prompter
from .reader import Reader
from .room import Room


@dataclass
class _Row:
    """A document that is being labelled.

    laid (Laid): Its question.
    labels (List[bool]): Of each candidate the label, or what it is guessed to be.
    start (int): Sub-tokens that were read, and stay.
    ahead (int): Candidates of the next pass, at most.
    odds (List[float]): Of the candidates whose labels are sure.
    """

    laid: Laid
    labels: List[bool]
    start: int
    ahead: int
    odds: List[float] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return len(self.odds) == len(self.labels)


def label_in_turn(
    rows: Sequence[Laid],
    reader: Reader,
    prompter: Prompter,
    pad: int,
    guess: bool = False,
) -> List[Tensor]:
    """The odds of labels, as if each were asked for when those before it are written.

    What stands before each label is known but for the labels, so these are guessed, and
    many candidates are read in one pass. Up to the first that was guessed wrong the
    odds are what they would be step by step; what was read after it is forgotten, and
    what the model said there is the next guess (Jacobi decoding, Santilli et al. 2023,
    "Accelerating Transformer Inference for Translation via Parallel Decoding"). What
    was read is kept: only what was guessed wrong is read again.

    rows (Sequence[Laid]): Questions with candidates.
    reader (Reader): The model.
    prompter (Prompter): What laid the questions out.
    pad (int): The sub-token of padding.
    guess (bool): What labels are at first taken to be.
    RETURNS (List[Tensor]): For each question, float of shape (candidates,).
    """
    device = next(reader.model.parameters()).device
    states = [_Row(row, [guess] * len(row.leads), 0, len(row.leads)) for row in rows]
    going = list(states)
    # What is read again for the first time is no longer than this.
    cache = Room(max(sum(len(lead) + 1 for lead in row.leads) for row in rows))
    seen = torch.zeros((len(rows), 0), dtype=torch.long, device=device)
    while going:
        made = [_make_part(row, prompter.labels) for row in going]
        ids, real = pad_rows([part for part, _ in made], pad, device)
        before = seen.shape[1]
        seen = torch.cat([seen, real.long()], dim=1)
        starts = torch.tensor([row.start for row in going], device=device)
        places = starts[:, None] + torch.arange(ids.shape[1], device=device)
        read = reader.read(ids, seen, places.clamp(max=prompter.window - 1), cache)
        wanted = [(i, end) for i, (_, ends) in enumerate(made) for end in ends]
        odds = iter(reader.odds(read, wanted).tolist())
        kept = [
            _go_on(row, ends, [next(odds) for _ in ends])
            for row, (_, ends) in zip(going, made)
        ]
        # What came after a wrong guess is not seen again.
        stay = torch.tensor(kept, device=device)[:, None]
        seen[:, before:] *= torch.arange(ids.shape[1], device=device) < stay
        left = [i for i, row in enumerate(going) if not row.is_done]
        if left and len(left) < len(going):
            cache.keep(left)
            seen = seen[left]
        going = [going[i] for i in left]
    return [torch.tensor(row.odds) for row in states]


def _make_part(row: _Row, labels: Tuple[int, int]) -> Tuple[List[int], List[int]]:
    """What is read next: sub-tokens, and where in them labels are asked for."""
    first = len(row.odds)
    part: List[int] = [] if first else list(row.laid.prompt)
    ends = []
    for i in range(first, min(first + row.ahead, len(row.labels))):
        if i:
            part.append(labels[0 if row.labels[i - 1] else 1])
        part += row.laid.leads[i]
        ends.append(len(part) - 1)
    return part, ends


def _go_on(row: _Row, ends: Sequence[int], odds: Sequence[float]) -> int:
    """Take odds over up to the first that was guessed wrong, and guess again.

    RETURNS (int): How much of what was read stays.
    """
    first = len(row.odds)
    found = [value >= 0 for value in odds]
    guessed = row.labels[first : first + len(found)]
    right = [a == b for a, b in zip(found, guessed)]
    # The label that was guessed wrong was itself asked for in the light of right ones.
    n = right.index(False) + 1 if False in right else len(right)
    row.odds += odds[:n]
    row.labels[first : first + len(found)] = found
    row.ahead = 4 * n
    kept = ends[n - 1] + 1
    row.start += kept
    return kept
