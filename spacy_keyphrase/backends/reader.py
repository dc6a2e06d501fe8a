"""What a causal language model says of T and F after the sub-tokens that it reads."""

from functools import cached_property
from typing import Any, Callable, Dict, List, Sequence, Tuple

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
        """What odds are told by: states before the layer of scores, float of shape
        (rows, length, width); or, where these do not suffice, scores, float of shape
        (rows, length, vocabulary).

        ids, places (Tensor): Sub-tokens and their places, int of shape (rows, length).
        mask (Tensor): What is read, or what each sees, as the model takes it.
        cache (Any): What was read before, if there is more than these.
        """
        read: Tensor = self._read[self.way](
            input_ids=ids,
            attention_mask=mask,
            position_ids=places,
            past_key_values=cache,
            use_cache=cache is not None,
        )
        return read

    def odds(self, read: Tensor, at: Sequence[Tuple[int, int]]) -> Tensor:
        """Logarithms of the odds of T against F, float of shape (places,).

        read (Tensor): What `read` returned.
        at (Sequence[Tuple[int, int]]): Rows and places, after which.
        """
        rows, columns = torch.tensor(at, device=read.device).T
        chosen = read[rows, columns]
        if self.way == "scores":
            logits = chosen[:, self.labels].float()
        else:
            logits = self._score(chosen, self.labels)
        return logits[:, 0] - logits[:, 1]

    @property
    def _read(self) -> Dict[str, Callable[..., Tensor]]:
        """What can be read of a model, what costs least first."""
        return {
            "states": self._last_states,
            "inputs": self._inputs_of_scores,
            "scores": lambda **inputs: self.model(**inputs).logits,
        }

    def _last_states(self, **inputs: Any) -> Tensor:
        states: Tensor = self.model.base_model(**inputs).last_hidden_state
        return states

    def _inputs_of_scores(self, **inputs: Any) -> Tensor:
        """Where there are more layers between, as BERT has them. The scores themselves
        are computed at one place of each row only."""
        kept: List[Tensor] = []

        def keep(layer: Any, given: Tuple[Tensor, ...]) -> Tuple[Tensor, ...]:
            kept.append(given[0])
            return (given[0][:, :1], *given[1:])

        hook = self.model.get_output_embeddings().register_forward_pre_hook(keep)
        try:
            self.model(**inputs)
        finally:
            hook.remove()
        return kept[0]

    @cached_property
    def way(self) -> str:
        """The first of the states from which the scores follow: as products with the
        vectors of sub-tokens, so that only those of T and F need to be computed."""
        device = next(self.model.parameters()).device
        ids = torch.tensor([self.labels], device=device)
        training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad(), mixed(device, False):
                whole = self.model(input_ids=ids).logits[0].float()
                for way in ("states", "inputs"):
                    states = self._read[way](input_ids=ids)[0]
                    ours = self._score(states, slice(None))
                    if (whole - ours).norm() <= _TOLERANCE * whole.norm():
                        return way
        finally:
            self.model.train(training)
        return "scores"

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
