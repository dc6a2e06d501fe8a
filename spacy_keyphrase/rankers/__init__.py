"""Unsupervised scorers of candidate phrases."""

from .base import Ranker, Scores
from .embedrank import make_embedrank
from .jointgl import make_jointgl
from .mderank import make_mderank
from .mudy import make_mudy
from .promptrank import make_promptrank
from .samrank import make_attention_seeker, make_samrank
from .statistical import make_statistical
from .topics import make_multipartiterank, make_topicrank
from .wordgraph import make_positionrank, make_singlerank, make_textrank

__all__ = [
    "Ranker",
    "Scores",
    "make_attention_seeker",
    "make_embedrank",
    "make_jointgl",
    "make_mderank",
    "make_mudy",
    "make_multipartiterank",
    "make_positionrank",
    "make_promptrank",
    "make_samrank",
    "make_singlerank",
    "make_statistical",
    "make_textrank",
    "make_topicrank",
]
