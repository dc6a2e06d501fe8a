"""Where models of the T5 family differ that have the same modules."""

from inspect import signature
from typing import Any


def scales_outputs(config: Any) -> bool:
    """Whether a model scales the decoder's states before the vocabulary: T5 does, T5
    1.1, Flan-T5 and mT5 do not.

    config (PretrainedConfig): Of the model.
    """
    # transformers 5 says so; before, it depended on whether the vocabulary is tied.
    if hasattr(config, "scale_decoder_outputs"):
        return bool(config.scale_decoder_outputs)
    if config.model_type == "mt5":
        return False
    return bool(getattr(config, "tie_word_embeddings", True))


def position_buckets(attention: Any, offsets: Any, *, bidirectional: bool) -> Any:
    """The rows of an attention's table of biases.

    attention (Module): Self-attention that has a table.
    offsets (Tensor): How far keys are behind queries, below 0 if they are before them.
    bidirectional (bool): Whether it is that of an encoder.
    RETURNS (Tensor): Int of the shape of offsets.
    """
    find = attention._relative_position_bucket
    # That of UMT5 knows what it is of.
    if "bidirectional" not in signature(find).parameters:
        return find(offsets)
    return find(
        offsets,
        bidirectional=bidirectional,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
