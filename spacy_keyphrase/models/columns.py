"""The numbers that are known of phrases, for all phrases of a batch at once."""

from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc

from ..keyphraseness import get_keyphraseness
from ..lexemes import BREAK, CODES
from ..lexicon import ADJECTIVE, NOUN
from ..vectors import get_vectors
from ..words import WordBatch, bounds
from .mentions import Mentions
from .prior import add_priors

MAX_WORDS = 5

Columns = Dict[str, numpy.ndarray]


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
    words = mentions.words
    if words is None:
        raise ValueError("The features of phrases need the words of the docs.")
    starts, ends, firsts = mentions.starts, mentions.ends, mentions.firsts
    of_doc = mentions.phrase_docs
    counts = numpy.diff(firsts, append=len(starts))
    first_starts, first_ends = starts[firsts], ends[firsts]
    place = words.stem_offsets[first_starts]
    lengths = words.stem_offsets[first_ends] - place
    last = words.stem_offsets[starts[firsts + counts - 1]]
    doc_start = words.stem_bounds[of_doc]
    n_stems = numpy.diff(words.stem_bounds)[of_doc]
    tf = numpy.log(words.frequency)

    classes, openings = _token_classes(words)
    noun, adjective = classes == CODES[NOUN], classes == CODES[ADJECTIVE]
    edge = ~(noun | adjective)
    others = bounds(edge & (classes != CODES[BREAK]))
    border = numpy.zeros(len(classes) + 1, dtype=bool)
    border[words.token_bounds] = True
    before = border | numpy.concatenate([[True], edge])
    after = border | numpy.append(edge, True)
    share = _make_share(firsts, counts)
    mean = _make_mean(place, lengths)
    log_counts = numpy.log(counts)
    most = numpy.repeat(
        numpy.maximum.reduceat(
            log_counts, bounds(mentions.doc_phrases)[:-1][mentions.doc_phrases > 0]
        ),
        mentions.doc_phrases[mentions.doc_phrases > 0],
    )
    columns = {
        **{f"words_{n}": lengths == n for n in range(1, MAX_WORDS)},
        f"words_{MAX_WORDS}": lengths >= MAX_WORDS,
        "mentions": log_counts / 3,
        "mentions_share": log_counts / numpy.maximum(most, 0.5),
        "first": numpy.log1p(place - doc_start) / 6,
        "first_share": (place - doc_start) / n_stems,
        "last_share": (last - doc_start) / n_stems,
        "spread": (last - place) / n_stems,
        "opening": place - doc_start < words.first_sentences[of_doc],
        "words_in_doc": numpy.log(n_stems) / 10,
        "idf_mean": mean(words.idf),
        "unknown": 1 - mean(words.known),
        "tf_mean": mean(tf) / 3,
        "value": mean(numpy.exp(0.25 * tf) * numpy.maximum(words.idf, 0.01) ** 0.8),
        "capitals": share((words.capital_tokens & ~openings)[starts]),
        "left_edge": share(before[starts]),
        "right_edge": share(after[ends]),
        "noun_head": noun[first_ends - 1],
        "noun_first": noun[first_starts],
        "adjective_first": adjective[first_starts],
        "other_inside": others[first_ends] > others[first_starts],
        "similarity": _similarities(docs, mentions, first_starts, first_ends),
    }
    columns["idf_min"], columns["idf_max"] = _extremes(words.idf, place, lengths)
    low, high = _extremes(tf, place, lengths)
    columns["tf_min"], columns["tf_max"] = low / 3, high / 3
    add_priors(columns, counts, place - doc_start, lengths, mentions.doc_phrases)
    _add_keyphraseness(columns, docs, mentions, own_gold)
    return columns


def _token_classes(words: WordBatch) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Of each token the class of its unit, and whether it is the first word of a
    sentence. What is in no unit is a break."""
    classes = numpy.full(len(words.capital_tokens), CODES[BREAK], dtype="i1")
    classes[words.unit_starts] = words.unit_classes
    # Hyphens inside a compound are of its class.
    compounds = numpy.flatnonzero(words.unit_ends - words.unit_starts > 1)
    rows = zip(
        words.unit_starts[compounds].tolist(),
        words.unit_ends[compounds].tolist(),
        words.unit_classes[compounds].tolist(),
    )
    for start, end, cls in rows:
        classes[start:end] = cls
    openings = numpy.zeros(len(classes), dtype=bool)
    openings[words.unit_starts[words.unit_openings]] = True
    return classes, openings


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
    for language, own, rows in _by_language(docs, mentions):
        vectors = get_vectors(language)
        if vectors is None:
            continue
        # Where the docs of the language would stand without the others.
        shifts = numpy.zeros(len(docs), dtype="i8")
        lengths = mentions.doc_tokens[own]
        shifts[own] = bounds(mentions.doc_tokens)[own] - bounds(lengths)[:-1]
        shift = shifts[mentions.phrase_docs[rows]]
        similarities[rows] = vectors.similarities(
            [docs[i] for i in own], starts[rows] - shift, ends[rows] - shift
        )
    return similarities


def _by_language(
    docs: Sequence[Doc], mentions: Mentions
) -> Iterator[Tuple[str, Sequence[int], Any]]:
    """Each language, its docs, and the rows of their phrases."""
    languages = [doc.lang_ for doc in docs]
    for language in set(languages):
        own = [i for i, lang in enumerate(languages) if lang == language]
        if len(own) == len(docs):
            yield language, own, slice(None)
        else:
            yield (
                language,
                own,
                numpy.flatnonzero(numpy.isin(mentions.phrase_docs, own)),
            )


def _add_keyphraseness(
    columns: Columns,
    docs: Sequence[Doc],
    mentions: Mentions,
    own_gold: Optional[numpy.ndarray],
) -> None:
    gold, counted = numpy.zeros((2, mentions.n_phrases))
    for language, _, rows in _by_language(docs, mentions):
        table = get_keyphraseness(language)
        if table is not None and mentions.keys is not None:
            of_rows = None if own_gold is None else own_gold[rows]
            gold[rows], counted[rows] = table.look_up(mentions.keys[rows], of_rows)
    columns["keyphrase_count"] = numpy.log1p(gold) / 3
    columns["keyphrase_share"] = numpy.log((gold + 0.1) / (counted + 4)) / 3 + 1
    columns["keyphrase_known"] = gold > 0
