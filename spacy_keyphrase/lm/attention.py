"""Attention of decoder-only models that can be looked at and changed, as an
implementation of its own among those of transformers."""

from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Callable, Iterator, Optional, Tuple

import torch
from torch import Tensor

NAME = "spacy_keyphrase"

# From the layer and the scores before mask and softmax, float of shape (texts, heads,
# queries, keys), to such scores.
Before = Callable[[int, Tensor], Tensor]
# From the layer, the scores before and the weights after the softmax to such weights.
After = Callable[[int, Tensor, Tensor], Tensor]

_before: "ContextVar[Optional[Before]]" = ContextVar("before", default=None)
_after: "ContextVar[Optional[After]]" = ContextVar("after", default=None)


def install(model: Any) -> bool:
    """Let a model compute attention here.

    model (Any): A model of transformers; changed.
    RETURNS (bool): Whether it says that it can.
    """
    transformers: Any = import_module("transformers")
    transformers.AttentionInterface.register(NAME, attend)
    transformers.AttentionMaskInterface.register(
        NAME, transformers.AttentionMaskInterface._global_mapping["eager"]
    )
    if not hasattr(model, "set_attn_implementation"):
        # transformers before 4.54
        model.config._attn_implementation = NAME
        return True
    try:
        model.set_attn_implementation(NAME)
    except ValueError:
        return False
    return True


@contextmanager
def looking(
    before: Optional[Before] = None, after: Optional[After] = None
) -> Iterator[None]:
    """Within this block attention is changed, or only seen, by functions."""
    tokens = _before.set(before), _after.set(after)
    try:
        yield
    finally:
        _before.reset(tokens[0])
        _after.reset(tokens[1])


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Optional[Tensor],
    scaling: Optional[float] = None,
    dropout: float = 0.0,
    softcap: Optional[float] = None,
    **_: Any,
) -> Tuple[Tensor, None]:
    """Attention as `transformers` wants it computed. Its mask must be given.

    query, key, value (Tensor): Float of shape (texts, heads, places, width); keys and
        values may have fewer heads.
    attention_mask (Optional[Tensor]): Added to the scores.
    scaling (Optional[float]): Factor of the scores; 1 / sqrt(width) by default.
    softcap (Optional[float]): Bound of the scores, as in Gemma 2.
    RETURNS (Tuple[Tensor, None]): Float of shape (texts, places, heads, width).
    """
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key = key.repeat_interleave(groups, dim=1)
        value = value.repeat_interleave(groups, dim=1)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = query @ key.transpose(-1, -2) * scale
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    before, after = _before.get(), _after.get()
    raw = scores
    if before is not None:
        scores = before(module.layer_idx, scores)
    if attention_mask is not None:
        scores = scores + attention_mask[..., : key.shape[-2]]
    weights = scores.softmax(dim=-1, dtype=torch.float32).to(query.dtype)
    if after is not None:
        weights = after(module.layer_idx, raw, weights)
    return (weights @ value).transpose(1, 2).contiguous(), None
