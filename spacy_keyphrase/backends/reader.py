"""What a causal language model says of T and F after the sub-tokens that it reads."""

from functools import cached_property
from typing import Any, Sequence, Tuple

import torch
from torch import Tensor

from ..devices import mixed

# How much of the scores may be rounding.
_TOLERANCE = 0.05


class Reader:
    """Reads, and tells the odds of labels.

    model (PreTrainedModel): A causal language model of transformers.
    labels (Tuple[int, int]): The sub-tokens of T and F.
    """

    def __init__(self, model: Any, labels: Tuple[int, int]) -> None:
        self.model = model
        self.labels = list(labels)

    def read(
        self, ids: Tensor, mask: Tensor, places: Tensor, cache: Any = None
    ) -> Tensor:
        """What odds are told by: last states, float of shape (rows, length, width); or,
        where these do not suffice, scores, float of shape (rows, length, vocabulary).

        ids, places (Tensor): Sub-tokens and their places, int of shape (rows, length).
        mask (Tensor): What is read, or what each sees, as the model takes it.
        cache (Any): What was read before, if there is more than these.
        """
        inputs = {
            "input_ids": ids,
            "attention_mask": mask,
            "position_ids": places,
            "past_key_values": cache,
            "use_cache": cache is not None,
        }
        if self.is_plain:
            states: Tensor = self.model.base_model(**inputs).last_hidden_state
            return states
        logits: Tensor = self.model(**inputs).logits
        return logits

    def odds(self, read: Tensor, at: Sequence[Tuple[int, int]]) -> Tensor:
        """Logarithms of the odds of T against F, float of shape (places,).

        read (Tensor): What `read` returned.
        at (Sequence[Tuple[int, int]]): Rows and places, after which.
        """
        rows, columns = torch.tensor(at, device=read.device).T
        chosen = read[rows, columns]
        if self.is_plain:
            logits = self._score(chosen, self.labels)
        else:
            logits = chosen[:, self.labels].float()
        return logits[:, 0] - logits[:, 1]

    @cached_property
    def is_plain(self) -> bool:
        """Whether scores are products of last states and the vectors of sub-tokens, so
        that only those of T and F need to be computed. Where a model has more layers in
        between, as BERT has, all scores are."""
        device = next(self.model.parameters()).device
        ids = torch.tensor([self.labels], device=device)
        training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad(), mixed(device, False):
                whole = self.model(ids).logits[0].float()
                states = self.model.base_model(ids).last_hidden_state[0]
                ours = self._score(states, slice(None))
        finally:
            self.model.train(training)
        return bool((whole - ours).norm() <= _TOLERANCE * whole.norm())

    def _score(self, states: Tensor, wanted: Any) -> Tensor:
        """The scores of some of the vocabulary: float of shape (states, wanted)."""
        output = self.model.get_output_embeddings()
        # Not in 16 bits: the odds are a small difference of large numbers.
        with mixed(states.device, False):
            logits = states.float() @ output.weight[wanted].float().T
            if getattr(output, "bias", None) is not None:
                logits = logits + output.bias[wanted].float()
        return _scale(logits, self.model.config)


def _scale(logits: Tensor, config: Any) -> Tensor:
    """What some models do with scores in the end."""
    logits = logits * (getattr(config, "logit_scale", None) or 1.0)
    logits = logits / (getattr(config, "logits_scaling", None) or 1.0)
    cap = getattr(config, "final_logit_softcapping", None)
    return cap * (logits / cap).tanh() if cap else logits
