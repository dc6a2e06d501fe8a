"""Unsupervised scorers of candidate phrases."""

from .base import Ranker, Scores
from .statistical import make_statistical

__all__ = ["Ranker", "Scores", "make_statistical"]
