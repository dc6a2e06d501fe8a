"""Unsupervised scorers of candidate phrases."""

from .base import Ranker, Scores
from .statistical import make_statistical
from .topics import make_multipartiterank, make_topicrank
from .wordgraph import make_positionrank, make_singlerank, make_textrank

__all__ = [
    "Ranker",
    "Scores",
    "make_multipartiterank",
    "make_positionrank",
    "make_singlerank",
    "make_statistical",
    "make_textrank",
    "make_topicrank",
]
