"""Which words a pipeline that reads without end remembers."""

from contextlib import nullcontext
from typing import Any, ContextManager

from spacy.language import Language

# Lexemes and the tokenizer's memory of so many words take about 20 MB.
MAX_WORDS = 50_000


def vocabulary_zone(nlp: Language) -> ContextManager[object]:
    """A memory zone once the vocabulary is large: words first met in it are freed at
    its end, so that memory does not grow with what is read.

    Before, there is none: within a zone the tokenizer remembers nothing, and where it
    remembers frequent words it takes a quarter of the time. Zones cannot be nested, so
    that a caller's own is left alone.

    nlp (Language): The pipeline. Docs made in the zone are not to be used after it.
    RETURNS (ContextManager): The zone, or one that does nothing.
    """
    vocab: Any = nlp.vocab
    if not hasattr(nlp, "memory_zone") or vocab.in_memory_zone:
        return nullcontext()
    if len(vocab) < MAX_WORDS:
        return nullcontext()
    return nlp.memory_zone()
