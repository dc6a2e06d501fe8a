"""Losses of tags and of words."""

from typing import Sequence

import torch
from torch import Tensor, nn


def tag_losses(logits: Tensor, tags: Tensor, weights: Sequence[float]) -> Tensor:
    """Weighted cross entropy of tags (UniKeyphrase, eq. 13).

    logits (Tensor): Float of shape (..., tags).
    tags (Tensor): Gold, int of shape (...).
    weights (Sequence[float]): Of each tag.
    RETURNS (Tensor): Of each position, float of shape (...).
    """
    losses = nn.functional.cross_entropy(
        logits.flatten(0, -2),
        tags.flatten(),
        weight=logits.new_tensor(weights),
        reduction="none",
    )
    return losses.view(tags.shape)


def word_losses(logits: Tensor, words: Tensor, smoothing: float = 0.0) -> Tensor:
    """Cross entropy of words, or the divergence from smoothed targets, as UNILM has it:
    a share is spread over all other words but the first of the vocabulary, padding.

    logits (Tensor): Float of shape (..., vocabulary).
    words (Tensor): Gold, int of shape (...).
    smoothing (float): The share.
    RETURNS (Tensor): Of each position, float of shape (...).
    """
    log_p = logits.log_softmax(-1)
    gold = log_p.gather(-1, words[..., None])[..., 0]
    if not smoothing:
        return -gold
    n = logits.shape[-1] - 2
    each = smoothing / n
    rest = log_p.sum(-1) - log_p[..., 0] - gold
    entropy = smoothing * torch.log(log_p.new_tensor(each))
    entropy = entropy + (1 - smoothing) * torch.log(log_p.new_tensor(1 - smoothing))
    return entropy - (1 - smoothing) * gold - each * rest
