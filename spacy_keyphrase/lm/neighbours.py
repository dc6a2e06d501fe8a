"""Occurrences that are like others (the MUDY paper, eq. 3)."""

from typing import Dict, Optional, Sequence, Tuple

import numpy
import torch
from torch import Tensor
from torch.nn.functional import normalize

from .document import Occurrence


def find_neighbours(
    states: Tensor,
    starts: numpy.ndarray,
    ends: numpy.ndarray,
    occurrences: Sequence[Occurrence],
    n: int,
    limits: Optional[Tuple[int, int]] = None,
) -> Tuple[Tensor, Tensor]:
    """The occurrences most similar to each, of those that share no stem with it.

    states (Tensor): Last hidden states of the document, float of shape
        (length, width).
    starts, ends (ndarray): First and last sub-token of each occurrence, int of shape
        (occurrences,).
    occurrences (Sequence[Occurrence]): Their stems.
    n (int): How many neighbours.
    limits (Optional[Tuple[int, int]]): Only those between are anybody's neighbours.
    RETURNS (Tuple[Tensor, Tensor]): Numbers of the neighbours, most similar first, int
        of shape (occurrences, n), and which there are, bool of the same shape.
    """
    states = states.float()
    length, count = len(states), len(occurrences)
    sums = torch.cat([states.new_zeros((1, states.shape[1])), states.cumsum(0)])
    last = torch.from_numpy(ends + 1).to(states.device).clamp(max=length)
    first = torch.from_numpy(starts).to(states.device).clamp(max=length - 1)
    vectors = (sums[last] - sums[first]) / (last - first).clamp(min=1)[:, None]
    vectors = normalize(vectors, dim=1)
    similar = (vectors @ vectors.T).cpu()
    similar[_share_stems(occurrences)] = -torch.inf
    low, high = limits or (-1, length)
    similar[:, torch.from_numpy((starts <= low) | (starts >= high))] = -torch.inf
    k = min(n, count)
    values, places = similar.topk(k, dim=1)
    numbers = torch.zeros((count, n), dtype=torch.long)
    present = torch.zeros((count, n), dtype=torch.bool)
    numbers[:, :k] = places
    present[:, :k] = values > -torch.inf
    return numbers, present


def _share_stems(occurrences: Sequence[Occurrence]) -> Tensor:
    """Which occurrences have a stem in common, bool of shape (n, n); all with
    themselves."""
    numbers: Dict[str, int] = {}
    rows, columns = [], []
    for row, occurrence in enumerate(occurrences):
        for stem in occurrence.stems:
            rows.append(row)
            columns.append(numbers.setdefault(stem, len(numbers)))
    has = torch.zeros((len(occurrences), max(len(numbers), 1)))
    has[rows, columns] = 1
    shared = has @ has.T > 0
    return shared.fill_diagonal_(True)
