"""The five heads of the JointKPE family, by name."""

from typing import Callable, Dict

from .base import Gold, Head, Loss
from .chunk import ChunkHead
from .joint import JointHead
from .rank import RankHead
from .span import SpanHead
from .tag import TagHead

HEADS: Dict[str, Callable[[], Head]] = {
    "joint": JointHead,
    "rank": RankHead,
    "chunk": ChunkHead,
    "tag": TagHead,
    "span": SpanHead,
}

__all__ = ["HEADS", "Gold", "Head", "Loss"]
