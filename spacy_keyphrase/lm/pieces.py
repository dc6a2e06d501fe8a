"""Sub-tokens of texts, and which of them a stretch of characters is made of."""

from dataclasses import dataclass, replace
from typing import Any, List, Optional, Sequence, Tuple

import numpy

# What tokenizers write for a space.
_SPACES = ("▁", "Ġ")


@dataclass(frozen=True)
class Pieces:
    """The sub-tokens of a text.

    ids (List[int]): Their numbers in the vocabulary.
    starts (ndarray): First character of each, int of shape (pieces,).
    ends (ndarray): Character after the last of each, int of shape (pieces,); equal to
        the start for special sub-tokens and for those that are no more than a space.
    blank (ndarray): Which are no more than a space, bool of shape (pieces,).
    """

    ids: List[int]
    starts: numpy.ndarray
    ends: numpy.ndarray
    blank: numpy.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, start: int, end: int) -> Optional[Tuple[int, int]]:
        """The first and the last sub-token of a stretch of characters, or None where
        there is none.

        start (int): First character.
        end (int): Character after the last.
        """
        first, last = self.find_all(numpy.array([start]), numpy.array([end]))[0]
        return (int(first), int(last)) if last >= first else None

    def find_all(self, starts: numpy.ndarray, ends: numpy.ndarray) -> numpy.ndarray:
        """The first and the last sub-token of each of some stretches of characters.

        starts (ndarray): First characters, int of shape (stretches,).
        ends (ndarray): Characters after the last, of the same shape.
        RETURNS (ndarray): Int of shape (stretches, 2); where there is none, the first
            is the number of sub-tokens, and the last is -1.
        """
        filled = numpy.flatnonzero(self.ends > self.starts)
        spans = numpy.tile([len(self), -1], (len(starts), 1))
        if not len(filled):
            return spans
        first = numpy.searchsorted(self.ends[filled], starts, side="right")
        last = numpy.searchsorted(self.starts[filled], ends, side="left") - 1
        there = first <= last
        spans[there, 0] = filled[first[there]]
        spans[there, 1] = filled[last[there]]
        return spans

    def take(self, places: numpy.ndarray) -> "Pieces":
        """Some of them.

        places (ndarray): Which, ascending, int.
        """
        ids = [self.ids[i] for i in places.tolist()]
        return Pieces(ids, self.starts[places], self.ends[places], self.blank[places])

    def with_ids(self, ids: List[int]) -> "Pieces":
        """Others in their places.

        ids (List[int]): As many.
        """
        return replace(self, ids=ids)


def read_pieces(
    tokenizer: Any, texts: Sequence[str], special: bool = True
) -> List[Pieces]:
    """Cut texts into sub-tokens.

    tokenizer (Any): A fast tokenizer.
    texts (Sequence[str]): The texts.
    special (bool): Whether to add the special sub-tokens.
    RETURNS (List[Pieces]): The sub-tokens of each text.
    """
    if not texts:
        return []
    found = tokenizer(
        list(texts),
        add_special_tokens=special,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # of texts longer than a window
    )
    blank = {i for i in tokenizer.convert_tokens_to_ids(list(_SPACES)) if i is not None}
    blank.discard(tokenizer.unk_token_id)
    pieces = []
    for ids, offsets in zip(found["input_ids"], found["offset_mapping"]):
        places = numpy.array(offsets, dtype="i8").reshape(-1, 2)
        starts, ends = places[:, 0], places[:, 1].copy()
        empty = numpy.isin(ids, list(blank))
        ends[empty] = starts[empty]
        pieces.append(Pieces(ids, starts, ends, empty))
    return pieces
