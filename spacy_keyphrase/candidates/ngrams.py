"""All n-grams up to a length."""

from dataclasses import dataclass

import numpy
from spacy.tokens import Doc

from ..registry import registry
from ..word_reader import read_words
from ..words import WordBatch
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
    return _NGramSuggester(max_words, stop_edges, cross_punctuation)


@dataclass(frozen=True)
class _NGramSuggester:
    max_words: int
    stop_edges: bool
    cross_punctuation: bool

    def __call__(self, doc: Doc) -> Offsets:
        if not len(doc):
            return []
        found = self.batch(read_words([doc])).tolist()
        return sorted((start, end) for start, end in found)

    def batch(self, words: WordBatch) -> numpy.ndarray:
        """The n-grams of several docs, token offsets counted through all of them.

        words (WordBatch): The words of the docs.
        RETURNS (ndarray): Int of shape (n-grams, 2).
        """
        starts, ends = words.unit_starts, words.unit_ends
        edge = numpy.ones(len(starts), dtype=bool)
        if not self.stop_edges:
            edge = (ends - starts > 1) | ~words.stops[starts]
        # An n-gram is within one part.
        part = numpy.repeat(numpy.arange(len(words)), words.doc_units)
        if not self.cross_punctuation:
            part = part + numpy.cumsum(words.unit_breaks)
        firsts, lasts = [], []
        places = numpy.flatnonzero(edge)
        for n in range(self.max_words):
            first = places[: numpy.searchsorted(places, len(edge) - n)]
            last = first + n
            fits = edge[last] & (part[first] == part[last])
            firsts.append(starts[first[fits]])
            lasts.append(ends[last[fits]])
        return numpy.column_stack([numpy.concatenate(firsts), numpy.concatenate(lasts)])
