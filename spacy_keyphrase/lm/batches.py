"""Texts of like length go through a model together."""

from typing import Iterator, List, Sequence, Tuple

import torch
from torch import Tensor

from .pieces import Pieces


def make_groups(lengths: Sequence[int], limit: int) -> Iterator[List[int]]:
    """Which of some texts go together, the longest first, so that all padded to the
    longest are in the limit. A text longer than the limit goes alone.

    lengths (Sequence[int]): Sub-tokens of each text.
    limit (int): Sub-tokens of a group, padded, at most.
    YIELDS (List[int]): Numbers of the texts of a group.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    i = 0
    while i < len(order):
        n = max(1, limit // max(lengths[order[i]], 1))
        yield order[i : i + n]
        i += n


def pad(texts: Sequence[Pieces], device: torch.device) -> Tuple[Tensor, Tensor]:
    """Sub-tokens as input of a model.

    RETURNS (Tuple[Tensor, Tensor]): Their numbers, int of shape (texts, longest), and
        what is no padding, bool of the same shape.
    """
    longest = max(map(len, texts))
    ids = torch.zeros((len(texts), longest), dtype=torch.long)
    mask = torch.zeros((len(texts), longest), dtype=torch.bool)
    for row, pieces in enumerate(texts):
        ids[row, : len(pieces)] = torch.tensor(pieces.ids)
        mask[row, : len(pieces)] = True
    return ids.to(device), mask.to(device)
