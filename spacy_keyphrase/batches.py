"""Texts of like length go through a model together."""

from typing import Iterator, List, Sequence, Tuple

import torch
from torch import Tensor


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


def pad_rows(
    rows: Sequence[Sequence[int]], padding: int, device: torch.device
) -> Tuple[Tensor, Tensor]:
    """Sub-tokens or words of texts as input of a model.

    rows (Sequence[Sequence[int]]): Those of each text.
    padding (int): What short rows are filled with.
    device (torch.device): Where to.
    RETURNS (Tuple[Tensor, Tensor]): Their numbers, int of shape (rows, longest), and
        what is no padding, bool of the same shape.
    """
    longest = max(map(len, rows))
    filled = [[*row, *[padding] * (longest - len(row))] for row in rows]
    lengths = torch.tensor([len(row) for row in rows], device=device)
    ids = torch.tensor(filled, dtype=torch.long, device=device)
    return ids, torch.arange(longest, device=device) < lengths[:, None]
