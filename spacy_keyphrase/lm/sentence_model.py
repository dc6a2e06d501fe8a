"""What scorers want of a language model."""

from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Protocol, Sequence

import numpy
import torch
from torch import Tensor

from .pieces import Pieces
from .sentences import Sentence
from .weighting import Priors


@dataclass(frozen=True)
class Read:
    """A document that a model has read.

    number (int): Which one.
    document (Any): What the model wants of it to score sentences.
    states (Tensor): Float of shape (length, width), if the model has states of
        documents.
    attention (Optional[Tensor]): Self-attention of the layer looked at, averaged over
        the heads; float of shape (length, length), of which the rows attend to the
        columns.
    """

    number: int
    document: Any
    states: Tensor
    attention: Optional[Tensor] = None


class SentenceModel(Protocol):
    """A language model, as the scorers use it.

    special (bool): Whether sentences end with special sub-tokens.
    has_states (bool): Whether states of documents come with reading them.
    default_layer (int): The layer whose attention is looked at by default.
    """

    special: bool
    has_states: bool
    default_layer: int

    @property
    def device(self) -> torch.device: ...

    def read(
        self, texts: Sequence[Pieces], max_tokens: int, layer: Optional[int] = None
    ) -> Iterator[Read]:
        """Read documents, in any order.

        layer (Optional[int]): Whose attention is wanted as well.
        """
        ...

    def score(
        self,
        document: Any,
        sentences: Sequence[Sentence],
        priors: Optional[Priors],
        max_tokens: int,
    ) -> numpy.ndarray:
        """The log-probability of the scored part of each sentence, float of shape
        (sentences,)."""
        ...

    def received(
        self, texts: Sequence[Pieces], layer: int, max_tokens: int
    ) -> List[numpy.ndarray]:
        """The self-attention that each sub-token receives, averaged over the heads of a
        layer and added up (eq. 9); float of shape (length,) for each text."""
        ...
