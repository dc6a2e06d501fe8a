"""Scores of sub-tokens and phrases from maps of self-attention."""

from typing import Literal, Sequence

import torch
from torch import Tensor

Part = Literal["both", "global", "proportional"]
# So that a sub-token that nothing attends to divides nothing by 0 (SAMRank's code).
TINY = 1e-10


def samrank(maps: Tensor, part: Part = "both", blank: Sequence[int] = ()) -> Tensor:
    """Global and proportional attention of sub-tokens (Kang and Shin 2023).

    The global score of a sub-token is what all others attend to it. Its proportional
    score is its share in what the sub-tokens that it attends to receive, weighted by
    their global scores.

    maps (Tensor): Float of shape (..., length, length), of which the rows attend to
        the columns.
    part (str): Which of the two scores, or their sum.
    blank (Sequence[int]): Sub-tokens whose global score is 0: the last one of BERT,
        the first one of decoder-only models.
    RETURNS (Tensor): Float of shape (..., length).
    """
    received = maps.sum(dim=-2)
    received[..., list(blank)] = 0
    if part == "global":
        return received
    weighted = maps * received[..., None, :]
    shares = weighted / (weighted.sum(dim=-2, keepdim=True) + TINY)
    proportional = shares.sum(dim=-1)
    return proportional if part == "proportional" else received + proportional


def seek(maps: Tensor, rows: Tensor, relevant: Tensor, first: int) -> Tensor:
    """One pass of Attention-Seeker (López Z. et al. 2025): maps that agree with what is
    relevant count more, and so do the rows of each map.

    maps (Tensor): Float of shape (layers, heads, length, length).
    rows (Tensor): Which rows count, bool of shape (length,).
    relevant (Tensor): How relevant each sub-token is, float of shape (length,).
    first (int): Sub-tokens at the start that receive nothing.
    RETURNS (Tensor): Float of shape (length,).
    """
    agreement = (maps @ relevant) * rows  # (layers, heads, length)
    weights = agreement.mean(dim=-1, keepdim=True) * agreement
    scores = torch.einsum("lhr,lhrc->c", weights, maps)
    scores[:first] = 0
    return scores


def attention_seeker(maps: Tensor, candidates: Tensor, first: int = 1) -> Tensor:
    """Both passes: the first with all sub-tokens of candidates alike, the second with
    what they have got.

    maps (Tensor): Float of shape (layers, heads, length, length).
    candidates (Tensor): Which sub-tokens are parts of candidates, bool of shape
        (length,).
    first (int): Sub-tokens at the start that receive nothing, such as a mark of the
        beginning.
    RETURNS (Tensor): Float of shape (length,).
    """
    mask = candidates.to(maps.dtype)
    found = seek(maps, candidates, mask, first)
    return seek(maps, candidates, found * mask, first)
