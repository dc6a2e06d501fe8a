"""The numbers that are known of phrases, for all phrases of a batch at once."""

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc

from ..keyphraseness import get_keyphraseness
from ..lexemes import BREAK, CODES
from ..lexicon import ADJECTIVE, NOUN
from ..vectors import get_vectors
from ..words import Words
from .mentions import Mentions
from .prior import add_priors

MAX_WORDS = 5
# Mixed into the hashes of a doc's stems, that each doc has its own.
_PRIME = numpy.uint64(0x9E3779B97F4A7C15)

Columns = Dict[str, numpy.ndarray]


@dataclass
class _Text:
    """The words of a batch, docs one after the other.

    offsets (ndarray): For each token, and one past the last, how many stems stand
        before it; int of shape (tokens + 1,).
    idf, known, tf, value (ndarray): Of each stem its rarity, whether the lexicon has
        it, the logarithm of its frequency in its doc, and the statistical ranker's
        value; float of shape (stems,).
    doc_offsets (ndarray): How many stems stand before each doc, and one past the last.
    first_sentences (ndarray): How many stems the first sentence of each doc has.
    classes (ndarray): Code of the word class of each token.
    openings (ndarray): Whether it is the first word of a sentence, bool.
    capitals (ndarray): Whether it is capitalised, bool.
    borders (ndarray): Whether a doc begins at each token, and at one past the last.
    """

    offsets: numpy.ndarray
    idf: numpy.ndarray
    known: numpy.ndarray
    tf: numpy.ndarray
    value: numpy.ndarray
    doc_offsets: numpy.ndarray
    first_sentences: numpy.ndarray
    classes: numpy.ndarray
    openings: numpy.ndarray
    capitals: numpy.ndarray
    borders: numpy.ndarray


def make_columns(
    docs: Sequence[Doc], mentions: Mentions, own_gold: Optional[numpy.ndarray]
) -> Columns:
    """The features of the phrases of a batch by name; see `FEATURES`.

    docs (Sequence[Doc]): The batch.
    mentions (Mentions): Its mentions, one at least, read with their words.
    own_gold (Optional[ndarray]): Which phrases are gold, where the docs are to be
        taken out of the table of keyphrases; bool of shape (phrases,).
    RETURNS (Dict[str, ndarray]): Each of shape (phrases,).
    """
    text = _read(mentions.words, mentions.doc_tokens)
    starts, ends, firsts = mentions.starts, mentions.ends, mentions.firsts
    of_doc = mentions.phrase_docs
    counts = numpy.diff(firsts, append=len(starts))
    first_starts, first_ends = starts[firsts], ends[firsts]
    place = text.offsets[first_starts]
    lengths = text.offsets[first_ends] - place
    last = text.offsets[starts[firsts + counts - 1]]
    doc_start = text.doc_offsets[of_doc]
    n_stems = text.doc_offsets[of_doc + 1] - doc_start

    noun = text.classes == CODES[NOUN]
    adjective = text.classes == CODES[ADJECTIVE]
    edge = ~(noun | adjective)
    other = edge & (text.classes != CODES[BREAK])
    others = numpy.concatenate([[0], numpy.cumsum(other)])
    outer = numpy.append(edge, True)
    before = outer[starts - 1] | text.borders[starts]
    after = outer[ends] | text.borders[ends]
    share = _make_share(firsts, counts)
    mean = _make_mean(place, lengths)
    log_counts = numpy.log(counts)
    most = numpy.zeros(len(mentions.doc_phrases))
    numpy.maximum.at(most, of_doc, log_counts)
    columns = {
        **{f"words_{n}": lengths == n for n in range(1, MAX_WORDS)},
        f"words_{MAX_WORDS}": lengths >= MAX_WORDS,
        "mentions": log_counts / 3,
        "mentions_share": log_counts / numpy.maximum(most, 0.5)[of_doc],
        "first": numpy.log1p(place - doc_start) / 6,
        "first_share": (place - doc_start) / n_stems,
        "last_share": (last - doc_start) / n_stems,
        "spread": (last - place) / n_stems,
        "opening": place - doc_start < text.first_sentences[of_doc],
        "words_in_doc": numpy.log(n_stems) / 10,
        "idf_mean": mean(text.idf),
        "unknown": 1 - mean(text.known),
        "tf_mean": mean(text.tf) / 3,
        "value": mean(text.value),
        "capitals": share((text.capitals & ~text.openings)[starts]),
        "left_edge": share(before),
        "right_edge": share(after),
        "noun_head": noun[first_ends - 1],
        "noun_first": noun[first_starts],
        "adjective_first": adjective[first_starts],
        "other_inside": others[first_ends] > others[first_starts],
        "similarity": _similarities(docs, mentions, first_starts, first_ends),
    }
    columns["idf_min"], columns["idf_max"] = _extremes(text.idf, place, lengths)
    low, high = _extremes(text.tf, place, lengths)
    columns["tf_min"], columns["tf_max"] = low / 3, high / 3
    add_priors(columns, counts, place - doc_start, lengths, of_doc)
    _add_keyphraseness(columns, docs, mentions, own_gold)
    return columns


def _read(words: List[Words], doc_tokens: numpy.ndarray) -> _Text:
    n_stems = numpy.array([len(one.stem_ids) for one in words])
    doc_offsets = numpy.concatenate([[0], numpy.cumsum(n_stems)])
    token_offsets = numpy.concatenate([[0], numpy.cumsum(doc_tokens)])
    offsets = [one.stem_offsets[:-1] for one in words] + [doc_offsets[-1:]]
    offsets_of = numpy.append(numpy.repeat(doc_offsets[:-1], doc_tokens), 0)
    hashes = _join([one.table.hashes[one.stem_ids] for one in words])
    salt = numpy.arange(len(words), dtype="u8") * _PRIME
    _, inverse, frequency = numpy.unique(
        hashes + numpy.repeat(salt, n_stems), return_inverse=True, return_counts=True
    )
    tf = numpy.log(frequency)[inverse]
    idf = _join([one.table.idf[one.stem_ids] for one in words])

    n_units = [len(one.unit_starts) for one in words]
    starts = _join([one.unit_starts for one in words])
    starts += numpy.repeat(token_offsets[:-1], n_units)
    lengths = _join([one.unit_ends - one.unit_starts for one in words])
    # Hyphens inside a compound are of its class; what is in no unit is of none.
    within = numpy.arange(lengths.sum()) - numpy.repeat(
        numpy.cumsum(lengths) - lengths, lengths
    )
    classes = numpy.zeros(token_offsets[-1], dtype="i1")
    classes[numpy.repeat(starts, lengths) + within] = numpy.repeat(
        _join([one.unit_classes for one in words]), lengths
    )
    openings = numpy.zeros(len(classes), dtype=bool)
    openings[starts[_join([one.unit_openings for one in words])]] = True
    borders = numpy.zeros(len(classes) + 1, dtype=bool)
    borders[token_offsets] = True
    return _Text(
        offsets=_join(offsets) + offsets_of,
        idf=idf,
        known=_join([one.table.known[one.stem_ids] for one in words]),
        tf=tf,
        value=numpy.exp(0.25 * tf) * numpy.maximum(idf, 0.01) ** 0.8,
        doc_offsets=doc_offsets,
        first_sentences=numpy.array([one.sentence_ends[0] for one in words]),
        classes=classes,
        openings=openings,
        capitals=_join([one.capital_tokens for one in words]),
        borders=borders,
    )


def _join(arrays: Sequence[numpy.ndarray]) -> numpy.ndarray:
    joined: numpy.ndarray = numpy.concatenate(arrays)
    return joined


def _make_mean(
    place: numpy.ndarray, lengths: numpy.ndarray
) -> Callable[[numpy.ndarray], numpy.ndarray]:
    """The mean over the stems of each phrase, as a function of numbers of stems."""

    def mean(of_stems: numpy.ndarray) -> numpy.ndarray:
        sums = numpy.concatenate([[0.0], numpy.cumsum(of_stems, dtype="f8")])
        means: numpy.ndarray = (sums[place + lengths] - sums[place]) / lengths
        return means

    return mean


def _make_share(
    firsts: numpy.ndarray, counts: numpy.ndarray
) -> Callable[[numpy.ndarray], numpy.ndarray]:
    """The share of the mentions of each phrase, as a function of what they are."""

    def share(of_mentions: numpy.ndarray) -> numpy.ndarray:
        shares: numpy.ndarray
        shares = numpy.add.reduceat(of_mentions.astype(float), firsts) / counts
        return shares

    return share


def _extremes(
    of_stems: numpy.ndarray, place: numpy.ndarray, lengths: numpy.ndarray
) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """The least and the greatest over the stems of each phrase."""
    low = high = of_stems[place]
    for k in range(1, int(lengths.max())):
        at = of_stems[numpy.minimum(place + k, place + lengths - 1)]
        low, high = numpy.minimum(low, at), numpy.maximum(high, at)
    return low, high


def _similarities(
    docs: Sequence[Doc],
    mentions: Mentions,
    starts: numpy.ndarray,
    ends: numpy.ndarray,
) -> numpy.ndarray:
    """How near each phrase is to its doc; 0 in languages without word vectors."""
    similarities = numpy.zeros(len(starts))
    of_doc, tokens = mentions.phrase_docs, numpy.cumsum(mentions.doc_tokens)
    for language in {doc.lang_ for doc in docs}:
        vectors = get_vectors(language)
        if vectors is None:
            continue
        own = [i for i, doc in enumerate(docs) if doc.lang_ == language]
        rows = numpy.flatnonzero(numpy.isin(of_doc, own))
        some = [docs[i] for i in own]
        # Where the docs of the language would stand without the others.
        lengths = mentions.doc_tokens[own]
        shift = (tokens[own] - lengths) - (numpy.cumsum(lengths) - lengths)
        place = numpy.searchsorted(own, of_doc[rows])
        similarities[rows] = vectors.similarities(
            some, starts[rows] - shift[place], ends[rows] - shift[place], place
        )
    return similarities


def _add_keyphraseness(
    columns: Columns,
    docs: Sequence[Doc],
    mentions: Mentions,
    own_gold: Optional[numpy.ndarray],
) -> None:
    gold, counted = numpy.zeros((2, mentions.n_phrases))
    languages = numpy.array([doc.lang_ for doc in docs])[mentions.phrase_docs]
    for language in {doc.lang_ for doc in docs}:
        table = get_keyphraseness(language)
        if table is not None and mentions.keys is not None:
            rows = numpy.flatnonzero(languages == language)
            own = None if own_gold is None else own_gold[rows]
            gold[rows], counted[rows] = table.look_up(mentions.keys[rows], own)
    columns["keyphrase_count"] = numpy.log1p(gold) / 3
    columns["keyphrase_share"] = numpy.log((gold + 0.1) / (counted + 4)) / 3 + 1
    columns["keyphrase_known"] = gold > 0
