"""Keyphrases as first-class metadata in Haystack pipelines."""

from .evaluator import KeyphraseEvaluator
from .expander import KeyphraseDocumentExpander, KeyphraseDocumentRestorer
from .extractor import KeyphraseExtractor
from .filters import KeyphraseFilterBuilder
from .generator import KeyphraseGenerator
from .projector import KeyphraseProjector
from .query_expander import KeyphraseQueryExpander
from .ranker import KeyphraseRanker
from .selector import KeyphraseSelector

__all__ = [
    "KeyphraseDocumentExpander",
    "KeyphraseDocumentRestorer",
    "KeyphraseEvaluator",
    "KeyphraseExtractor",
    "KeyphraseFilterBuilder",
    "KeyphraseGenerator",
    "KeyphraseProjector",
    "KeyphraseQueryExpander",
    "KeyphraseRanker",
    "KeyphraseSelector",
]
