"""Sentences that go through a model as one row, in which each sub-token sees only those
before it in its own sentence."""

from dataclasses import dataclass
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

import numpy
import torch
from torch import Tensor

from .sentences import Sentence


@dataclass(frozen=True)
class Packed:
    """Sub-tokens of several sentences.

    ids (Tensor): Sub-tokens, int of shape (n,).
    places (Tensor): Their places in their sentences, int of shape (n,).
    seen (Tensor): Which others each one comes after, and itself; bool of shape (n, n).
    sentences (ndarray): Numbers of the sentences, int of shape (sentences,).
    at (Tensor): What a scored sub-token comes after, int of shape (scored,).
    targets (Tensor): The scored sub-tokens, int of shape (scored,).
    owners (Tensor): Places in `sentences` of the sentences that they are of, int of
        shape (scored,).
    rows (Tensor): Place in `sentences` of the sentence that each sub-token is of, int
        of shape (n,); empty if sentences share sub-tokens.
    share (Tensor): Share of each sub-token in the mean over the candidate of a
        sentence, float of shape (sentences, n); empty as well.
    """

    ids: Tensor
    places: Tensor
    seen: Tensor
    sentences: numpy.ndarray
    at: Tensor
    targets: Tensor
    owners: Tensor
    rows: Tensor
    share: Tensor

    def sums(self, scores: Tensor) -> numpy.ndarray:
        """The sum over each sentence.

        scores (Tensor): Of the scored sub-tokens, float of shape (scored,).
        RETURNS (ndarray): Float of shape (sentences,).
        """
        sums = scores.new_zeros(len(self.sentences), dtype=torch.double)
        sums.index_add_(0, self.owners, scores.double())
        found: numpy.ndarray = sums.cpu().numpy()
        return found


def make_rows(
    sentences: Sequence[Sentence],
    limit: int,
    device: torch.device,
    first_id: Optional[int] = None,
    padded: int = 0,
) -> Iterator[Packed]:
    """Pack sentences one after the other.

    sentences (Sequence[Sentence]): The sentences.
    limit (int): Sub-tokens at once, at most; a longer sentence goes alone.
    device (torch.device): Where they go.
    first_id (Optional[int]): Stands in place of the first sub-token of each.
    padded (int): Sub-tokens that each sentence is padded to. If there are any, the
        candidate's are taken to be those from the sixth to the last but two, as in the
        code of the MUDY authors.
    YIELDS (Packed): Every sentence is in one of them.
    """
    # Nothing is asked of what comes after the last that is scored.
    lengths = [max(padded, s.last - 1, s.end) for s in sentences]
    group: List[int] = []
    total = 0
    for i, length in enumerate(lengths):
        if group and total + length > limit:
            yield _pack(sentences, lengths, group, device, first_id, padded)
            group, total = [], 0
        group.append(i)
        total += length
    if group:
        yield _pack(sentences, lengths, group, device, first_id, padded)


def _pack(
    sentences: Sequence[Sentence],
    all_lengths: Sequence[int],
    group: Sequence[int],
    device: torch.device,
    first_id: Optional[int],
    padded: int,
) -> Packed:
    some = [sentences[i] for i in group]
    lengths = numpy.array([all_lengths[i] for i in group])
    firsts = numpy.cumsum(lengths) - lengths
    n = int(lengths.sum())
    rows = numpy.repeat(numpy.arange(len(some)), lengths)
    places = numpy.arange(n) - firsts[rows]
    ids = numpy.zeros(n, dtype="i8")  # 0 pads
    share = numpy.zeros((len(some), n), dtype="f4")
    at: List[int] = []
    targets: List[int] = []
    owners: List[int] = []
    for row, (sentence, first, length) in enumerate(
        zip(some, firsts.tolist(), lengths.tolist())
    ):
        inputs = sentence.ids[:length]
        ids[first : first + len(inputs)] = inputs
        if first_id is not None:
            ids[first] = first_id
        start, end = (5, length - 2) if padded else (sentence.start, sentence.end)
        share[row, first + start : first + end] = 1 / max(end - start, 1)
        scored = range(sentence.first, sentence.last)
        at += [first + place - 1 for place in scored]
        targets += [sentence.ids[place] for place in scored]
        owners += [row] * len(scored)
    of_row = torch.from_numpy(rows).to(device)
    at_place = torch.from_numpy(places).to(device)
    seen = (of_row[:, None] == of_row) & (at_place <= at_place[:, None])
    return Packed(
        torch.from_numpy(ids).to(device),
        at_place,
        seen,
        numpy.array(group),
        _to_tensor(at, device),
        _to_tensor(targets, device),
        _to_tensor(owners, device),
        of_row,
        torch.from_numpy(share).to(device),
    )


def make_trees(
    sentences: Sequence[Sentence],
    limit: int,
    device: torch.device,
    first_id: Optional[int] = None,
) -> Iterator[Packed]:
    """Pack sentences as trees: beginnings that they have in common are there once.

    sentences (Sequence[Sentence]): The sentences.
    limit (int): Sub-tokens of a tree, at most; a longer sentence has one of its own.
    device (torch.device): Where the trees go.
    first_id (Optional[int]): Stands in place of the first sub-token of each.
    YIELDS (Packed): The trees; every sentence is in one of them.
    """
    order = sorted(range(len(sentences)), key=lambda i: sentences[i].ids)
    tree = _Growing(first_id)
    for i in order:
        if tree.sentences and len(tree.ids) + tree.new(sentences[i]) > limit:
            yield tree.done(device)
            tree = _Growing(first_id)
        tree.add(i, sentences[i])
    if tree.sentences:
        yield tree.done(device)


class _Growing:
    """A tree that sentences are added to."""

    def __init__(self, first_id: Optional[int]) -> None:
        self.first_id = first_id
        self.ids: List[int] = []
        self.parents: List[int] = []
        self.places: List[int] = []
        self.sentences: List[int] = []
        self.scored: List[Tuple[int, int, int]] = []
        self._children: Dict[Tuple[int, int], int] = {}

    def new(self, sentence: Sentence) -> int:
        """How many sub-tokens of a sentence are not there yet."""
        node = -1
        inputs = self._inputs(sentence)
        for place, number in enumerate(inputs):
            node = self._children.get((node, number), -2)
            if node == -2:
                return len(inputs) - place
        return 0

    def add(self, number: int, sentence: Sentence) -> None:
        owner = len(self.sentences)
        self.sentences.append(number)
        node = -1
        for place, token in enumerate(self._inputs(sentence)):
            key = (node, token)
            if key not in self._children:
                self._children[key] = len(self.ids)
                self.ids.append(token)
                self.parents.append(node)
                self.places.append(place)
            node = self._children[key]
            if sentence.first <= place + 1 < sentence.last:
                self.scored.append((node, sentence.ids[place + 1], owner))

    def _inputs(self, sentence: Sentence) -> List[int]:
        """What comes before the last one that is scored."""
        inputs = sentence.ids[: sentence.last - 1]
        return inputs if self.first_id is None else [self.first_id, *inputs[1:]]

    def done(self, device: torch.device) -> Packed:
        seen = numpy.eye(len(self.ids), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] |= seen[parent]
        at, targets, owners = list(zip(*self.scored)) or [(), (), ()]
        none = torch.zeros(0, device=device)
        return Packed(
            torch.tensor(self.ids, device=device),
            torch.tensor(self.places, device=device),
            torch.from_numpy(seen).to(device),
            numpy.array(self.sentences),
            _to_tensor(at, device),
            _to_tensor(targets, device),
            _to_tensor(owners, device),
            none.long(),
            none,
        )


def _to_tensor(numbers: Sequence[int], device: torch.device) -> Tensor:
    return torch.tensor(list(numbers), dtype=torch.long, device=device)
