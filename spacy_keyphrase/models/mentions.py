"""The candidate mentions of a batch of docs, as arrays that networks read."""

from dataclasses import dataclass
from functools import cached_property
from typing import Iterator, List, NamedTuple, Optional

import numpy

from ..words import WordBatch, Words, bounds

# An odd number whose bits look random: sequences of stems become 64-bit keys.
_MULTIPLIER = numpy.uint64(0x9E3779B97F4A7C15)


@dataclass
class Mentions:
    """Candidate mentions of a batch of docs.

    Tokens, stems, phrases and mentions are counted through the whole batch, docs in
    order. The mentions of a phrase stand together, in text order; the phrases of a
    doc are in the order of their first mentions.

    starts (ndarray): First token of each mention, int32 of shape (mentions,).
    ends (ndarray): Token after the last of each mention, int32 of shape (mentions,).
    phrases (ndarray): The phrase that each is a mention of, ascending, int32 of shape
        (mentions,).
    doc_tokens (ndarray): Tokens of each doc, int32 of shape (docs,).
    doc_phrases (ndarray): Phrases of each doc, int32 of shape (docs,).
    words (Optional[WordBatch]): The words of the docs, for networks that look at more
        than positions.
    keys (Optional[ndarray]): A number for the stems of each phrase, the same in every
        process; uint64 of shape (phrases,).
    gold (Optional[ndarray]): In training, which phrases are gold, bool of shape
        (phrases,).
    styles (Optional[ndarray]): For each doc the weights of the annotation styles to
        follow, all 0 for none in particular, float of shape (docs, styles).
    priors (Optional[ndarray]): Of each phrase the logarithm of what an untrained
        ranking makes of it, float of shape (phrases,); `PhraseFeatures` sets it.
    """

    starts: numpy.ndarray
    ends: numpy.ndarray
    phrases: numpy.ndarray
    doc_tokens: numpy.ndarray
    doc_phrases: numpy.ndarray
    words: Optional[WordBatch] = None
    keys: Optional[numpy.ndarray] = None
    gold: Optional[numpy.ndarray] = None
    styles: Optional[numpy.ndarray] = None
    priors: Optional[numpy.ndarray] = None

    def __len__(self) -> int:
        return len(self.starts)

    def words_of(self, i: int) -> Words:
        """The words of one doc."""
        if self.words is None:
            raise ValueError("These mentions were made without the words of the docs.")
        return self.words[i]

    @cached_property
    def n_phrases(self) -> int:
        """Phrases of the whole batch."""
        return int(self.doc_phrases.sum())

    @cached_property
    def phrase_docs(self) -> numpy.ndarray:
        """The doc of each phrase, int of shape (phrases,)."""
        return numpy.repeat(numpy.arange(len(self.doc_phrases)), self.doc_phrases)

    @cached_property
    def firsts(self) -> numpy.ndarray:
        """The first mention of each phrase, int of shape (phrases,)."""
        return numpy.flatnonzero(numpy.diff(self.phrases, prepend=-1))


def read_mentions(words: WordBatch, spans: numpy.ndarray) -> Mentions:
    """Group the mentions of a batch of docs by their stems.

    words (WordBatch): The words of the docs.
    spans (ndarray): Token offsets of the mentions, counted through the batch, int of
        shape (mentions, 2); what has no word is left out.
    """
    starts, ends = spans[:, 0], spans[:, 1]
    has_word = words.stem_offsets[starts] < words.stem_offsets[ends]
    # In text order, the longer first where two start at the same token.
    order = numpy.flatnonzero(has_word)
    order = order[numpy.lexsort((-ends[order], starts[order]))]
    starts, ends = starts[order].astype("i4"), ends[order].astype("i4")
    of_doc = numpy.searchsorted(words.token_bounds, starts, side="right") - 1
    keys = _keys(words.hashes, words.stem_offsets[starts], words.stem_offsets[ends])
    # The same phrase in two docs is two.
    own_keys = keys + of_doc.astype("u8") * _MULTIPLIER
    _, seen, phrase = numpy.unique(own_keys, return_index=True, return_inverse=True)
    # Phrases are numbered as they first come in the text.
    rank = numpy.empty(len(seen), dtype="i4")
    by_place = numpy.argsort(seen)
    rank[by_place] = numpy.arange(len(seen))
    phrase = rank[phrase.reshape(-1)]
    order = numpy.argsort(phrase, kind="stable")
    firsts = seen[by_place]
    n_docs = len(words.doc_tokens)
    return Mentions(
        starts=starts[order],
        ends=ends[order],
        phrases=phrase[order],
        doc_tokens=words.doc_tokens.astype("i4"),
        doc_phrases=numpy.bincount(of_doc[firsts], minlength=n_docs).astype("i4"),
        words=words,
        keys=keys[firsts],
    )


def _keys(
    hashes: numpy.ndarray, starts: numpy.ndarray, ends: numpy.ndarray
) -> numpy.ndarray:
    """A 64-bit key for each stretch of stems, the same for equal stretches only (but
    for one chance in 10^19 a pair)."""
    keys: numpy.ndarray
    keys = ((ends - starts).astype("u8") + numpy.uint64(1)) * _MULTIPLIER
    longest = int((ends - starts).max()) if len(starts) else 0
    for k in range(longest):
        rows = numpy.flatnonzero(starts + k < ends)
        mixed = (keys[rows] ^ (hashes[starts[rows] + k])) * _MULTIPLIER
        keys[rows] = mixed ^ (mixed >> numpy.uint64(29))
    return keys


class DocMentions(NamedTuple):
    """The mentions of one doc, phrase after phrase.

    places (ndarray): Token offsets in the doc, int of shape (mentions, 2).
    bounds (List[int]): Where each phrase begins in `places`, and where the last ends.
    mentions (slice): The same mentions in the arrays of the batch.
    phrases (slice): The phrases in the arrays of the batch.
    """

    places: numpy.ndarray
    bounds: List[int]
    mentions: slice
    phrases: slice


def split_mentions(mentions: Mentions) -> Iterator[DocMentions]:
    """The mentions of a batch, doc by doc."""
    firsts = numpy.append(mentions.firsts, len(mentions))
    phrase_bounds = bounds(mentions.doc_phrases)
    rows_of = firsts[phrase_bounds].tolist()
    tokens = bounds(mentions.doc_tokens).tolist()
    places = numpy.column_stack([mentions.starts, mentions.ends])
    phrases = phrase_bounds.tolist()
    for i, first_token in enumerate(tokens[:-1]):
        rows = slice(rows_of[i], rows_of[i + 1])
        own = slice(phrases[i], phrases[i + 1])
        yield DocMentions(
            places[rows] - first_token,
            (firsts[own.start : own.stop + 1] - rows.start).tolist(),
            rows,
            own,
        )


def phrase_max(scores: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
    """The score of each phrase: the best of its mentions, in memory linear in them.

    scores (ndarray): Score of each mention, float of shape (mentions,).
    mentions (Mentions): The mentions.
    RETURNS (ndarray): Float of shape (phrases,).
    """
    if not len(mentions):
        return scores[:0]
    best: numpy.ndarray = numpy.maximum.reduceat(scores, mentions.firsts)
    return best


def best_mentions(scores: numpy.ndarray, mentions: Mentions) -> numpy.ndarray:
    """The best mention of each phrase, the first of equals.

    scores (ndarray): Score of each mention, float of shape (mentions,).
    mentions (Mentions): The mentions.
    RETURNS (ndarray): Index of a mention for each phrase, int of shape (phrases,).
    """
    order = numpy.lexsort((-scores, mentions.phrases))
    best: numpy.ndarray = order[mentions.firsts]
    return best
