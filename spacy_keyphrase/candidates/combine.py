"""Suggesters made of suggesters: filtered, or joined."""

import re
from functools import partial
from typing import List, Optional, Pattern

from spacy.tokens import Doc

from ..registry import registry
from .base import Offsets, Suggester, collect_candidates


@registry.keyphrase_candidates("spacy_keyphrase.Filter.v1")
def make_filter(
    candidates: Suggester,
    min_words: int = 1,
    max_words: Optional[int] = None,
    min_chars: int = 1,
    min_frequency: int = 1,
    stop_edges: bool = True,
    cross_sentences: bool = True,
    pattern: Optional[str] = None,
) -> Suggester:
    """Keep only some of a suggester's mentions.

    candidates (Suggester): The suggester to filter.
    min_words (int): Fewest words of a phrase.
    max_words (Optional[int]): Most words of a phrase; no limit by default.
    min_chars (int): Fewest characters of a mention.
    min_frequency (int): How often the phrase must be suggested in the document.
    stop_edges (bool): Whether a phrase may begin or end with a stop word.
    cross_sentences (bool): Whether a mention may cross a sentence boundary, where
        the doc has them.
    pattern (Optional[str]): Regular expression that the whole mention must match.
    RETURNS (Suggester): From a doc to token offsets.
    """
    try:
        compiled = None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise ValueError(f"The pattern {pattern!r} is not valid: {error}.") from error
    return partial(
        _suggest_filtered,
        candidates=candidates,
        min_words=min_words,
        max_words=max_words,
        min_chars=min_chars,
        min_frequency=min_frequency,
        stop_edges=stop_edges,
        cross_sentences=cross_sentences,
        pattern=compiled,
    )


def _suggest_filtered(
    doc: Doc,
    *,
    candidates: Suggester,
    min_words: int,
    max_words: Optional[int],
    min_chars: int,
    min_frequency: int,
    stop_edges: bool,
    cross_sentences: bool,
    pattern: Optional[Pattern[str]],
) -> Offsets:
    found: Offsets = []
    for candidate in collect_candidates(doc, candidates(doc)):
        n_words = len(candidate.stems)
        if n_words < min_words or (max_words is not None and n_words > max_words):
            continue
        if len(candidate.mentions) < min_frequency:
            continue
        for start, end in candidate.mentions:
            span = doc[start:end]
            if len(span.text) < min_chars:
                continue
            if not stop_edges and (span[0].is_stop or span[-1].is_stop):
                continue
            if not cross_sentences and any(t.is_sent_start for t in span[1:]):
                continue
            if pattern is not None and pattern.fullmatch(span.text) is None:
                continue
            found.append((start, end))
    return sorted(found)


@registry.keyphrase_candidates("spacy_keyphrase.Union.v1")
def make_union(candidates: List[Suggester]) -> Suggester:
    """The mentions of several suggesters together.

    candidates (List[Suggester]): The suggesters.
    RETURNS (Suggester): From a doc to token offsets, each once, in text order.
    """
    if not candidates:
        raise ValueError("spacy_keyphrase.Union.v1 needs at least one suggester.")
    return partial(_suggest_union, candidates=candidates)


def _suggest_union(doc: Doc, *, candidates: List[Suggester]) -> Offsets:
    return sorted({mention for suggest in candidates for mention in suggest(doc)})
