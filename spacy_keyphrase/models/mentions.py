"""The candidate mentions of a batch of docs, as arrays that networks read."""

from dataclasses import dataclass, field
from typing import Iterator, List, NamedTuple, Optional, Sequence, Union

import numpy
from spacy.tokens import Doc

from ..candidates import Offsets
from ..words import Words

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
    words (List[Words]): The words of each doc, for networks that look at more than
        positions.
    keys (Optional[ndarray]): A number for the stems of each phrase, the same in every
        process; uint64 of shape (phrases,).
    gold (Optional[ndarray]): In training, which phrases are gold, bool of shape
        (phrases,).
    styles (Optional[ndarray]): For each doc the index of the annotation style to
        follow, or -1 for none in particular, int32 of shape (docs,).
    """

    starts: numpy.ndarray
    ends: numpy.ndarray
    phrases: numpy.ndarray
    doc_tokens: numpy.ndarray
    doc_phrases: numpy.ndarray
    words: List[Words] = field(default_factory=list)
    keys: Optional[numpy.ndarray] = None
    gold: Optional[numpy.ndarray] = None
    styles: Optional[numpy.ndarray] = None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def n_phrases(self) -> int:
        """Phrases of the whole batch."""
        return int(self.doc_phrases.sum())

    @property
    def phrase_docs(self) -> numpy.ndarray:
        """The doc of each phrase, int of shape (phrases,)."""
        return numpy.repeat(numpy.arange(len(self.doc_phrases)), self.doc_phrases)

    @property
    def firsts(self) -> numpy.ndarray:
        """The first mention of each phrase, int of shape (phrases,)."""
        return numpy.flatnonzero(numpy.diff(self.phrases, prepend=-1))


def read_mentions(
    docs: Sequence[Doc],
    words: Sequence[Words],
    offsets: Sequence[Union[Offsets, numpy.ndarray]],
) -> Mentions:
    """Group the mentions of a batch of docs by their stems.

    docs (Sequence[Doc]): The batch.
    words (Sequence[Words]): Their words.
    offsets (Sequence[Offsets]): Token offsets of each doc's mentions, or arrays of
        these, int of shape (mentions, 2); what has no word is left out.
    """
    n_tokens = numpy.array([len(doc) for doc in docs], dtype="i4")
    n_stems = numpy.array([len(read.stem_ids) for read in words], dtype="i4")
    n_found = [len(found) for found in offsets]
    spans = numpy.concatenate(
        [numpy.asarray(found, dtype="i4").reshape((-1, 2)) for found in offsets]
        + [numpy.zeros((0, 2), dtype="i4")]
    )
    of_doc = numpy.repeat(numpy.arange(len(docs), dtype="i4"), n_found)
    # Tokens and stems are counted through the whole batch.
    spans = spans + (numpy.cumsum(n_tokens) - n_tokens)[of_doc, None]
    stems_before = numpy.cumsum(n_stems) - n_stems
    first_stems = numpy.concatenate(
        [read.stem_offsets[:-1] + n for read, n in zip(words, stems_before)]
        + [[n_stems.sum()]]
    ).astype("i4")
    has_word = first_stems[spans[:, 0]] < first_stems[spans[:, 1]]
    spans, of_doc = spans[has_word], of_doc[has_word]
    order = numpy.lexsort((-spans[:, 1], spans[:, 0]))
    spans, of_doc = spans[order], of_doc[order]
    hashes = numpy.concatenate(
        [read.table.hashes[read.stem_ids] for read in words]
        + [numpy.zeros(0, dtype="u8")]
    )
    keys = _keys(hashes, first_stems[spans[:, 0]], first_stems[spans[:, 1]])
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
    return Mentions(
        starts=numpy.ascontiguousarray(spans[order, 0]),
        ends=numpy.ascontiguousarray(spans[order, 1]),
        phrases=phrase[order],
        doc_tokens=n_tokens,
        doc_phrases=numpy.bincount(of_doc[firsts], minlength=len(docs)).astype("i4"),
        words=list(words),
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
    bounds = numpy.append(mentions.firsts, len(mentions))
    phrase = token = 0
    for n_tokens, n_phrases in zip(mentions.doc_tokens, mentions.doc_phrases):
        of_doc = bounds[phrase : phrase + n_phrases + 1]
        rows = slice(int(of_doc[0]), int(of_doc[-1]))
        yield DocMentions(
            numpy.column_stack([mentions.starts[rows], mentions.ends[rows]]) - token,
            (of_doc - of_doc[0]).tolist(),
            rows,
            slice(phrase, phrase + int(n_phrases)),
        )
        phrase += int(n_phrases)
        token += int(n_tokens)


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
