"""What the pipe asks of a model that writes keyphrases."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn


class GoldPhrase(NamedTuple):
    """A keyphrase that a model is taught.

    text (str): As the document has it, where it is present.
    offsets (Sequence[Tuple[int, int]]): Where: from one character to another; nowhere,
        if it is absent.
    """

    text: str
    offsets: Sequence[Tuple[int, int]] = ()

    @property
    def is_present(self) -> bool:
        """Whether the document has it."""
        return bool(self.offsets)


class Proposal(NamedTuple):
    """A keyphrase that a model has written.

    text (str): In the words of the model.
    score (float): Its confidence, 0..1.
    """

    text: str
    score: float


@dataclass(frozen=True)
class Request:
    """Documents, and what is wanted of them.

    texts (Sequence[str]): The documents.
    gold (Optional[Sequence[Sequence[GoldPhrase]]]): In training: of each document its
        keyphrases, in their order.
    k (Optional[int]): How many keyphrases each document should have; None leaves it to
        the model.
    step (int): Updates of the model so far, in training.
    """

    texts: Sequence[str]
    gold: Optional[Sequence[Sequence[GoldPhrase]]] = None
    k: Optional[int] = None
    step: int = 0


class Generator(nn.Module, ABC):
    """A model that writes keyphrases.

    saved_as (dtype): Precision of the weights in files: float32, float16 or int8, with
        which they take a half or a quarter of the room, and training cannot go on just
        as if it had not stopped.
    """

    saved_as: torch.dtype = torch.float32

    @abstractmethod
    def loss(self, request: Request) -> Tensor:
        """The loss of documents with gold keyphrases, a number.

        Documents that are too long are learned from as far as they are read at once.
        """

    @abstractmethod
    def write(self, request: Request) -> List[List[Proposal]]:
        """The keyphrases of documents, in the order that the model gives them. Of long
        documents, those of one window after the other."""

    @abstractmethod
    def to_files(self) -> Dict[str, bytes]:
        """All that makes up the model, as the contents of files."""

    def forward(self, request: Request) -> Tensor:
        """The loss, for those who call a module."""
        return self.loss(request)

    @property
    def device(self) -> Any:
        """Where the model is."""
        return next(self.parameters()).device
