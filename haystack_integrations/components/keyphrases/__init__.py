"""The components of `haystack_kp` where Haystack looks for integrations: a pipeline
that was saved is loaded without an import of ours. The folders above have no
`__init__`: they are shared by all integrations."""

from haystack_kp import (
    KeyphraseDocumentExpander,
    KeyphraseDocumentRestorer,
    KeyphraseEvaluator,
    KeyphraseExtractor,
    KeyphraseFilterBuilder,
    KeyphraseGenerator,
    KeyphraseProjector,
    KeyphraseQueryExpander,
    KeyphraseRanker,
    KeyphraseSelector,
)

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
