"""Pipes whose models return their loss in training."""

import math
from typing import Any, Dict, Iterable, Optional, Tuple

from spacy.training import Example
from thinc.api import Optimizer

from .loading import LoadablePipe


class LossPipe(LoadablePipe):
    """A trainable pipe with a model that returns a loss of shape (1,) in training."""

    def learn(
        self,
        request: Any,
        sgd: Optional[Optimizer],
        losses: Dict[str, float],
        when: str = "",
    ) -> None:
        """Learn from what the model is asked.

        request (Any): The input of the model.
        sgd (Optional[Optimizer]): The optimizer; without one the gradients are kept.
        losses (Dict[str, float]): Losses by component, added to.
        when (str): When this is, for the error.
        RAISES: ValueError where the loss is no number; nothing is learned then.
        """
        loss, backprop = self.model.begin_update(request)
        value = float(loss[0])
        if not math.isfinite(value):
            raise ValueError(
                f"The loss of {self.name!r} is {value}{when}. The last checkpoint and "
                "the best model are kept; go on from there with a lower learn_rate or "
                "grad_clip, or without mixed_precision."
            )
        backprop(self.model.ops.asarray1f([1.0]))
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += value

    def get_loss(self, examples: Iterable[Example], scores: Any) -> Tuple[float, float]:
        """The loss of a batch, which is the output of the network in training, and its
        gradient.

        examples (Iterable[Example]): Not used.
        scores (Floats1d): The network's output, of shape (1,).
        RETURNS (Tuple[float, float]): The loss and 1.
        """
        return float(scores[0]), 1.0
