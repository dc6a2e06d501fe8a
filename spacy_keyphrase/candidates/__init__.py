"""Candidate suggesters: functions from a doc to the token offsets of mentions."""

from .base import Candidate, Offsets, Suggester, collect_candidates, suggest_batch
from .combine import make_filter, make_union
from .lists import make_phrase_list
from .ngrams import make_ngrams
from .phrases import make_chunks, make_noun_phrases, make_phrases

__all__ = [
    "Candidate",
    "Offsets",
    "Suggester",
    "collect_candidates",
    "make_chunks",
    "make_filter",
    "make_ngrams",
    "make_noun_phrases",
    "make_phrase_list",
    "make_phrases",
    "make_union",
    "suggest_batch",
]
