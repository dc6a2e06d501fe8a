"""Keyphrases in retrieval."""

from .expansion import feedback_phrases
from .ranking import Ranked, RankSettings, rank

__all__ = ["RankSettings", "Ranked", "feedback_phrases", "rank"]
