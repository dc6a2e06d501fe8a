"""Evaluation of keyphrases: metrics, named conventions, significance."""

from .diversity import (
    dup_phrase_ratio,
    dup_token_ratio,
    emb_sim,
    mean_emb_sim,
    sem_diverse_index,
)
from .drift import recall_by_similarity, topic_drift
from .judge import Judgement, judge
from .metrics import Ranking, alpha_ndcg
from .presets import INVALID_TOKENS, PRESETS, Preset, get_preset
from .score import Scores, score
from .scorer import keyphrase_score, make_keyphrase_scorer
from .significance import Comparison, Interval, compare, confidence_interval
from .sources import make_source

__all__ = [
    "INVALID_TOKENS",
    "PRESETS",
    "Comparison",
    "Interval",
    "Judgement",
    "Preset",
    "Ranking",
    "Scores",
    "alpha_ndcg",
    "compare",
    "confidence_interval",
    "dup_phrase_ratio",
    "dup_token_ratio",
    "emb_sim",
    "get_preset",
    "judge",
    "keyphrase_score",
    "make_keyphrase_scorer",
    "make_source",
    "mean_emb_sim",
    "recall_by_similarity",
    "score",
    "sem_diverse_index",
    "topic_drift",
]
