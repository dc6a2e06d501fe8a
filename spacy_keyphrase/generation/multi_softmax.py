"""Labels in any order: every sub-token that goes on with a label that is left is right
(GROOV, Simig et al. 2022)."""

from typing import Collection, List, Sequence, Set

import torch
from torch import Tensor

Label = Sequence[int]


def valid_next(
    labels: Collection[Label], target: Sequence[int], separator: int, end: int, pad: int
) -> List[Set[int]]:
    """At each step of a target the sub-tokens that are right.

    labels (Collection[Label]): The sub-tokens of each label.
    target (Sequence[int]): The labels in some order, separators between them, the end,
        and padding.
    separator, end, pad (int): Special sub-tokens.
    RETURNS (List[Set[int]]): As many as the target has sub-tokens.
    RAISES: ValueError if the target goes on with no label that is left.
    """
    left = [tuple(label) for label in labels]
    begun: List[int] = []
    ended = False
    found = []
    for token in target:
        right = {pad} if ended else _right(left, begun, separator, end)
        if token not in right:
            raise ValueError(
                f"The target has {token} where one of {sorted(right)} goes on with a "
                "label that is left."
            )
        found.append(right)
        if token in (separator, end) and not ended:
            if tuple(begun) in left:
                left.remove(tuple(begun))
            begun = []
            ended = token == end
        elif not ended:
            begun.append(token)
    return found


def _right(
    left: Sequence[Label], begun: Sequence[int], separator: int, end: int
) -> Set[int]:
    n = len(begun)
    going = [label for label in left if list(label[:n]) == list(begun)]
    right = {label[n] for label in going if len(label) > n}
    if any(len(label) == n for label in going):
        right.add(separator if len(left) > 1 else end)
    return right


def multi_softmax_loss(logits: Tensor, valid: Sequence[Collection[int]]) -> Tensor:
    """Minus the log-probability that any right sub-token has.

    logits (Tensor): Float of shape (steps, vocabulary).
    valid (Sequence[Collection[int]]): Of each step the right ones.
    RETURNS (Tensor): Float of shape (steps,).
    """
    steps = [i for i, right in enumerate(valid) for _ in right]
    columns = [token for right in valid for token in right]
    mask = torch.zeros_like(logits, dtype=torch.bool)
    mask[steps, columns] = True
    some = logits.masked_fill(~mask, float("-inf")).logsumexp(dim=-1)
    return logits.logsumexp(dim=-1) - some
