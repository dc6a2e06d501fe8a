"""All n-grams up to a length."""

from functools import partial
from typing import List

from spacy.attrs import IS_STOP
from spacy.tokens import Doc

from ..registry import registry
from ..words import BREAK, get_word_reader
from .base import Offsets, Suggester


@registry.keyphrase_candidates("spacy_keyphrase.NGrams.v1")
def make_ngrams(
    max_words: int = 3, stop_edges: bool = False, cross_punctuation: bool = False
) -> Suggester:
    """All n-grams of words.

    max_words (int): Longest n-gram; a hyphenated compound counts as one word.
    stop_edges (bool): Whether an n-gram may begin or end with a stop word.
    cross_punctuation (bool): Whether an n-gram may run over punctuation, and so
        over the end of a sentence.
    RETURNS (Suggester): From a doc to token offsets.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, not {max_words}.")
    return partial(
        _suggest_ngrams,
        max_words=max_words,
        stop_edges=stop_edges,
        cross_punctuation=cross_punctuation,
    )


def _suggest_ngrams(
    doc: Doc, *, max_words: int, stop_edges: bool, cross_punctuation: bool
) -> Offsets:
    units = get_word_reader(doc.lang_).read(doc).units
    if cross_punctuation:
        units = [unit for unit in units if unit.cls != BREAK]
    stop = [False] * len(doc) if stop_edges else doc.to_array(IS_STOP).tolist()
    found: Offsets = []
    # The n-grams that may still grow, by their first tokens.
    open_starts: List[int] = []
    for start, end, cls, _ in units:
        if cls == BREAK:
            open_starts = []
            continue
        edge = end - start > 1 or not stop[start]
        open_starts.append(start if edge else -1)
        if len(open_starts) > max_words:
            del open_starts[0]
        if edge:
            found += [(first, end) for first in open_starts if first >= 0]
    return found
