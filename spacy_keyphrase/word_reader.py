"""Reads the words of docs."""

from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import groupby
from typing import Dict, Iterator, Optional, Sequence, Tuple

import numpy
from spacy.attrs import IS_STOP, ORTH, POS, SENT_START, SPACY, TAG
from spacy.tokens import Doc

from .lexemes import CODES, Lexemes
from .lexicon import ADJECTIVE, NOUN, OTHER, PARTICIPLE, Lexicon, get_lexicon
from .words import WordBatch, Words, bounds, join_batches

# Tags of words that modify as the last part of a compound ("web-based", "90-day").
_MODIFIER_TAGS = ("VB", "RB", "CD", "IN", "FW")
_MODIFIER_POS = frozenset(("VERB", "ADV", "NUM", "ADP", "X"))
_CACHE_SIZE = 200_000


class WordReader:
    """Reads the words of docs in one language; remembers what it knows of a token."""

    def __init__(self, lang: str, lexicon: Optional[Lexicon] = None):
        self.lang = lang
        self.lexicon = lexicon or get_lexicon(lang)
        self._lexemes = Lexemes(lang, self.lexicon)
        self._tag_codes: Dict[int, int] = {}

    def read(self, doc: Doc, use_tags: bool = True) -> Words:
        """Read the words of a doc.

        doc (Doc): In the language of the reader.
        use_tags (bool): Whether tags, where the doc has them, decide the classes.
            Otherwise stop words and the lexicon do.
        RETURNS (Words): Inside `shared_words`, each doc is read once.
        """
        shared = _SHARED.get()
        if shared is None:
            return self.read_batch([doc], use_tags)[0]
        key = (id(doc), use_tags)
        if key not in shared:
            shared[key] = self.read_batch([doc], use_tags)[0]
        return shared[key]

    def read_batch(self, docs: Sequence[Doc], use_tags: bool = True) -> WordBatch:
        """Read the words of several docs.

        docs (Sequence[Doc]): One at least, in the language of the reader.
        use_tags (bool): Whether tags, where a doc has them, decide its classes.
        """
        if self._lexemes.n > _CACHE_SIZE:
            self._lexemes = Lexemes(self.lang, self.lexicon)
        table = self._lexemes
        doc_tokens = numpy.array([len(doc) for doc in docs])
        token_bounds = bounds(doc_tokens)
        attrs = _attributes(docs, [ORTH, SPACY, IS_STOP])
        rows = numpy.concatenate(
            [
                table.look_up(attrs[start:end, 0].tolist(), doc.vocab.strings)
                for doc, start, end in zip(
                    docs, token_bounds.tolist(), token_bounds[1:].tolist()
                )
            ]
        )
        n_stems = table.n_stems[rows]
        offsets = bounds(n_stems)
        is_word = n_stems > 0
        spaces, stops = attrs[:, 1] > 0, attrs[:, 2] > 0
        inside = _inside_compounds(is_word, table.hyphens[rows], spaces, token_bounds)
        first = numpy.flatnonzero(is_word & ~inside)
        group = numpy.cumsum(is_word & ~inside) - 1
        last = first + numpy.bincount(group[inside], minlength=len(first))
        unit_bounds = numpy.searchsorted(first, token_bounds)
        # Of the docs with words the first, in the order of units.
        opening_units = unit_bounds[:-1][unit_bounds[:-1] < unit_bounds[1:]]

        starts, annotated = _sentence_starts(docs, token_bounds, inside)
        parting = ~is_word & ~inside & ~table.spaces[rows]
        ends = parting & table.sentence_ends[rows]
        ends &= ~numpy.repeat(annotated, doc_tokens)
        openings = _changed(starts | ends, first)
        openings[opening_units] = True
        breaks = _changed(parting | starts, first)
        breaks[opening_units] = False
        stem_ids = table.stems_of(rows)
        tags, tagged = self._tags(docs, doc_tokens, use_tags)
        classes = _classes(table.classes[rows], stops, first, last)
        if tags is not None:
            by_tag = self._tagged_classes(tags, first, last, docs)
            of_doc = numpy.repeat(tagged, numpy.diff(unit_bounds))
            classes = numpy.where(of_doc, by_tag, classes)
        return WordBatch(
            unit_starts=first,
            unit_ends=last + 1,
            unit_classes=classes,
            unit_breaks=breaks,
            unit_openings=openings,
            stem_ids=stem_ids,
            stem_tokens=numpy.repeat(numpy.arange(len(rows)), n_stems),
            stem_offsets=offsets,
            capital_tokens=table.capitals[rows],
            doc_tokens=doc_tokens,
            doc_units=numpy.diff(unit_bounds),
            tagged=tagged,
            orths=attrs[:, 0],
            spaces=spaces,
            stops=stops,
            hashes=table.stems.hashes[stem_ids],
            idf=table.stems.idf[stem_ids],
            known=table.stems.known[stem_ids],
            first_sentences=_first_sentences(
                offsets, token_bounds, first, openings, opening_units, starts
            ),
            tables=[table.stems] * len(docs),
        )

    def _tags(
        self, docs: Sequence[Doc], doc_tokens: numpy.ndarray, use_tags: bool
    ) -> Tuple[Optional[numpy.ndarray], numpy.ndarray]:
        """For each token its tag, fine-grained in English, a universal part of speech
        elsewhere, and for each doc whether it has any."""
        attributes = [self._tag_attribute(doc) if use_tags else None for doc in docs]
        tagged = numpy.array([bool(attribute) for attribute in attributes])
        tagged &= doc_tokens > 0
        if not tagged.any():
            return None, tagged
        tags = [
            doc.to_array(attribute) if attribute else numpy.zeros(len(doc), dtype="u8")
            for doc, attribute in zip(docs, attributes)
        ]
        return numpy.concatenate(tags), tagged

    def _tag_attribute(self, doc: Doc) -> Optional[int]:
        if self.lang == "en" and doc.has_annotation("TAG"):
            return int(TAG)
        return int(POS) if doc.has_annotation("POS") else None

    def _tagged_classes(
        self,
        tags: numpy.ndarray,
        first: numpy.ndarray,
        last: numpy.ndarray,
        docs: Sequence[Doc],
    ) -> numpy.ndarray:
        codes = self._tag_codes
        for tag in set(tags.tolist()).difference(codes):
            strings = next(
                doc.vocab.strings for doc in docs if tag in doc.vocab.strings
            )
            codes[tag] = CODES[_class_of_tag(strings[tag])]
        classes = numpy.array([codes[tag] for tag in tags[last].tolist()], dtype="i1")
        modifier = numpy.where(last > first, CODES[ADJECTIVE], CODES[OTHER])
        found: numpy.ndarray
        found = numpy.where(classes == CODES[PARTICIPLE], modifier, classes)
        return found


def _attributes(docs: Sequence[Doc], names: Sequence[int]) -> numpy.ndarray:
    """Attributes of the tokens of docs, uint64 of shape (tokens, names)."""
    parts = [numpy.asarray(doc.to_array([*names]), dtype="u8") for doc in docs]
    attributes: numpy.ndarray = numpy.concatenate(
        [part.reshape((-1, len(names))) for part in parts]
    )
    return attributes


def _inside_compounds(
    is_word: numpy.ndarray,
    is_hyphen: numpy.ndarray,
    spaces: numpy.ndarray,
    token_bounds: numpy.ndarray,
) -> numpy.ndarray:
    """Which tokens are hyphens between words, or words after such hyphens. There is no
    white space on either side of these."""
    inside = numpy.zeros(len(is_word), dtype=bool)
    places = numpy.flatnonzero(is_hyphen[1:-1]) + 1
    if len(places):
        joined = is_word[places - 1] & is_word[places + 1]
        joined &= ~spaces[places - 1] & ~spaces[places]
        border = numpy.zeros(len(is_word) + 1, dtype=bool)
        border[token_bounds] = True
        joined &= ~border[places] & ~border[places + 1]
        inside[places[joined]] = True
        inside[places[joined] + 1] = True
    return inside


def _sentence_starts(
    docs: Sequence[Doc], token_bounds: numpy.ndarray, inside: numpy.ndarray
) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """The tokens that begin a sentence by annotation, but not a doc; and which docs
    have such annotation."""
    annotated = numpy.array([doc.has_annotation("SENT_START") for doc in docs])
    starts = numpy.zeros(len(inside), dtype=bool)
    for i in numpy.flatnonzero(annotated).tolist():
        begins = docs[i].to_array(SENT_START) == 1
        starts[token_bounds[i] : token_bounds[i + 1]] = begins
    starts[token_bounds[:-1][token_bounds[:-1] < len(starts)]] = False
    starts &= ~inside
    return starts, annotated


def _changed(events: numpy.ndarray, first: numpy.ndarray) -> numpy.ndarray:
    """For each unit whether there is an event between it, included, and the unit
    before; not for the first."""
    counts = numpy.cumsum(events)[first]
    changed = numpy.zeros(len(first), dtype=bool)
    changed[1:] = counts[1:] > counts[:-1]
    return changed


def _classes(
    classes: numpy.ndarray,
    stop: numpy.ndarray,
    first: numpy.ndarray,
    last: numpy.ndarray,
) -> numpy.ndarray:
    """Classes by the lexicon: a compound is what its last word makes of it."""
    alone = numpy.where(stop[first], CODES[OTHER], classes[first])
    noun = classes[last] == CODES[NOUN]
    compound = numpy.where(noun, CODES[NOUN], CODES[ADJECTIVE])
    found: numpy.ndarray = numpy.where(last > first, compound, alone)
    return found


def _first_sentences(
    offsets: numpy.ndarray,
    token_bounds: numpy.ndarray,
    first: numpy.ndarray,
    openings: numpy.ndarray,
    opening_units: numpy.ndarray,
    starts: numpy.ndarray,
) -> numpy.ndarray:
    """How many stems the first sentence of each doc has: up to the first start by
    annotation, else up to the next unit that opens a sentence."""
    begins, ends = token_bounds[:-1], token_bounds[1:]

    def first_inside(tokens: numpy.ndarray) -> numpy.ndarray:
        at = numpy.append(tokens, token_bounds[-1])[numpy.searchsorted(tokens, begins)]
        found: numpy.ndarray = numpy.minimum(at, ends)
        return found

    later = openings.copy()
    later[opening_units] = False
    by_annotation = first_inside(numpy.flatnonzero(starts))
    by_unit = first_inside(first[later])
    end = numpy.where(by_annotation < ends, by_annotation, by_unit)
    stems: numpy.ndarray = offsets[end] - offsets[begins]
    return stems


def _class_of_tag(name: str) -> str:
    """The class of a PTB tag or a universal part of speech."""
    if name.startswith("NN") or name in ("NOUN", "PROPN"):
        return NOUN
    if name.startswith("JJ") or name == "ADJ":
        return ADJECTIVE
    if name.startswith(_MODIFIER_TAGS) or name in _MODIFIER_POS:
        return PARTICIPLE
    return OTHER


@cache
def get_word_reader(lang: str) -> WordReader:
    """The shared reader of a language, with its bundled lexicon."""
    return WordReader(lang)


def read_words(docs: Sequence[Doc]) -> WordBatch:
    """The words of docs, which may be in different languages.

    docs (Sequence[Doc]): One at least.
    """
    runs = groupby(docs, key=lambda doc: doc.lang_)
    return join_batches(
        [get_word_reader(lang).read_batch(list(run)) for lang, run in runs]
    )


_SHARED: ContextVar[Optional[Dict[Tuple[int, bool], Words]]] = ContextVar(
    "shared_words", default=None
)


@contextmanager
def shared_words(
    docs: Sequence[Doc] = (), words: Optional[WordBatch] = None
) -> Iterator[None]:
    """Within this block the words of each doc are read once and kept: suggesters
    and rankers share them. The docs must stay alive and as they are.

    docs (Sequence[Doc]): Docs whose words were read already.
    words (Optional[WordBatch]): Their words.
    """
    known = {} if words is None else {id(doc): words[i] for i, doc in enumerate(docs)}
    token = _SHARED.set({(doc, True): read for doc, read in known.items()})
    try:
        yield
    finally:
        _SHARED.reset(token)
