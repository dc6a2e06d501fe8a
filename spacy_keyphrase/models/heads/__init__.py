"""The five heads of the JointKPE family, by name."""

from typing import Any, Callable, Dict, Mapping

from .base import Gold, Head, Loss
from .chunk import ChunkHead
from .joint import JointHead
from .rank import RankHead
from .span import SpanHead
from .tag import TagHead

HEADS: Dict[str, Callable[..., Head]] = {
    "joint": JointHead,
    "rank": RankHead,
    "chunk": ChunkHead,
    "tag": TagHead,
    "span": SpanHead,
}


def make_head(attrs: Mapping[str, Any]) -> Head:
    """The head of a network.

    attrs (Mapping[str, Any]): The attributes of the network: the name of its "head",
        and of the "loss" where that can be chosen.
    """
    if "loss" in attrs:
        return HEADS[attrs["head"]](attrs["loss"])
    return HEADS[attrs["head"]]()


__all__ = ["HEADS", "Gold", "Head", "Loss", "make_head"]
