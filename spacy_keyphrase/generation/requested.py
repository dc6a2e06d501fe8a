"""As many phrases as are asked for: sequences in which each phrase has a begin and an
end, and which a model never learns to stop (PUSL, "From Lazy to Prolific")."""

from typing import List, NamedTuple, Sequence, Union

import torch
from torch import Tensor


class Marks(NamedTuple):
    """Special sub-tokens.

    begin, end (int): Of a phrase.
    start (int): What a decoder begins with.
    stop (int): What ends a sequence.
    """

    begin: int
    end: int
    start: int
    stop: int


def join_phrases(phrases: Sequence[Sequence[int]], marks: Marks) -> List[int]:
    """What is learned of phrases: each with its begin and its end, and no stop.

    phrases (Sequence[Sequence[int]]): The sub-tokens of each.
    """
    return [token for phrase in phrases for token in (marks.begin, *phrase, marks.end)]


class ExactlyK:
    """A processor of the logits of transformers' `generate`, greedy or with beams, that
    lets a sequence have just so many phrases (algorithm 1 of the PUSL paper, which in
    print counts stops instead of ends, and has an end follow an end).

    marks (Marks): Special sub-tokens.
    k (Union[int, Sequence[int]]): Phrases, for all sequences or for each input.
    distinct (bool): Whether no phrase may be written again: its last sub-token may not
        follow the others. Not in the paper, where models repeat themselves.
    """

    def __init__(
        self, marks: Marks, k: Union[int, Sequence[int]], distinct: bool = False
    ) -> None:
        self.marks = marks
        self.distinct = distinct
        self.k = torch.as_tensor(k).reshape(-1)
        if bool((self.k < 0).any()):
            raise ValueError(f"k is {k}; it must be 0 or more.")

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Forbid what may not come next.

        input_ids (Tensor): What was written, int of shape (sequences, length).
        scores (Tensor): Of what may come next, float of shape (sequences, vocabulary).
        RETURNS (Tensor): Float of the same shape.
        """
        marks = self.marks
        k = self.k.to(input_ids.device)
        # The beams of an input stand together.
        k = k.repeat_interleave(len(input_ids) // len(k))
        last = input_ids[:, -1]
        full = (input_ids == marks.end).sum(dim=1) >= k
        between = (last == marks.end) | (last == marks.start)
        scores = scores.clone()
        # A start within a sequence, the padding of T5, would begin a phrase again.
        scores[:, [marks.stop, marks.begin, marks.start]] = float("-inf")
        scores[last == marks.begin, marks.end] = float("-inf")
        if self.distinct:
            for row, ids in enumerate(input_ids.tolist()):
                scores[row, self._repeating(ids)] = float("-inf")
        _force(scores, between & ~full, marks.begin)
        _force(scores, full, marks.stop)
        return scores

    def _repeating(self, ids: Sequence[int]) -> List[int]:
        """The sub-tokens that would make the phrase that is being written one that was
        written before."""
        phrases: List[List[int]] = []
        for token in ids:
            if token == self.marks.begin:
                phrases.append([])
            elif phrases and token != self.marks.end:
                phrases[-1].append(token)
        if not phrases or ids[-1] == self.marks.end:
            return []
        *before, now = phrases
        return [phrase[-1] for phrase in before if phrase[:-1] == now and phrase]


def _force(scores: Tensor, rows: Tensor, token: int) -> None:
    scores[rows] = float("-inf")
    scores[rows, token] = 0
