"""What the pipe asks of a model that runs here."""

from abc import ABC, abstractmethod
from typing import Any, Dict, List

import torch
from torch import Tensor, nn

from ..selectors.questions import Answer, Asked


class Answerer(nn.Module, ABC):
    """A model that answers questions, and learns to label.

    saved_as (dtype): Precision of the weights in files.
    """

    saved_as: torch.dtype = torch.float32

    @abstractmethod
    def loss(self, request: Asked) -> Tensor:
        """The loss of labels that are known, a number."""

    @abstractmethod
    def write(self, request: Asked) -> List[Answer]:
        """The answers to questions."""

    @abstractmethod
    def to_files(self) -> Dict[str, bytes]:
        """All that makes up the model, as the contents of files."""

    def forward(self, request: Asked) -> Tensor:
        """The loss, for those who call a module."""
        return self.loss(request)

    @property
    def device(self) -> Any:
        """Where the model is."""
        return next(self.parameters()).device


def label_loss(odds: Tensor, kept: Tensor, balanced: bool) -> Tensor:
    """The loss of the labels of one document (the loss of the selector in "ONE2SET +
    Large Language Model", with a minus before it that is not in print).

    odds (Tensor): Logarithms of the odds of T, float of shape (candidates,).
    kept (Tensor): Which are T, bool of the same shape.
    balanced (bool): Whether those that are T weigh as much together as those that are
        F: the mean of either is added up. Else the mean of all.
    RETURNS (Tensor): A number.
    """
    losses = nn.functional.softplus(torch.where(kept, -odds, odds))
    if not balanced:
        return losses.mean()
    parts = [losses[part] for part in (kept, ~kept) if part.any()]
    return torch.stack([part.mean() for part in parts]).sum()
