"""The words of a doc: one pass over the tokens that everything else reads.

Tokens become units. A unit is a word or a compound of words joined by hyphens
("state-of-the-art"); it has a class: noun, adjective, participle, other, break.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy
from spacy.attrs import IS_STOP, ORTH, POS, SENT_START, SPACY, TAG
from spacy.tokens import Doc

from .lexemes import BREAK, CAPITAL_NOUNS, CLASSES, CODES, Lexemes, Stems
from .lexicon import ADJECTIVE, NOUN, OTHER, PARTICIPLE, Lexicon, get_lexicon

__all__ = [
    "BREAK",
    "CAPITAL_NOUNS",
    "Unit",
    "WordReader",
    "Words",
    "get_word_reader",
    "shared_words",
]

# Tags of words that modify as the last part of a compound ("web-based", "90-day").
_MODIFIER_TAGS = ("VB", "RB", "CD", "IN", "FW")
_MODIFIER_POS = frozenset(("VERB", "ADV", "NUM", "ADP", "X"))
_CACHE_SIZE = 200_000


class Unit(NamedTuple):
    """A word, a hyphenated compound, or a break between words."""

    start: int  # first token
    end: int  # token after the last
    cls: str  # NOUN, ADJECTIVE, PARTICIPLE, OTHER or BREAK
    sentence_start: bool  # the first word of its sentence


@dataclass
class Words:
    """The words of a doc, as arrays and, made when they are asked for, as lists.

    unit_starts (ndarray): First token of each unit, without the breaks; int of shape
        (units,).
    unit_ends (ndarray): The token after its last, of the same shape.
    unit_classes (ndarray): Code of its class, of the same shape.
    unit_breaks (ndarray): Whether something stands between it and the unit before
        that parts them, bool of the same shape.
    unit_openings (ndarray): Whether it is the first of its sentence, bool of the same
        shape.
    stem_ids (ndarray): The stems of all words, in order, as rows of `table`; int of
        shape (stems,).
    stem_tokens (ndarray): For each stem the token that it is in.
    stem_offsets (ndarray): For each token, and one past the last, how many stems
        stand before it; int of shape (tokens + 1,).
    capital_tokens (ndarray): For each token whether it is capitalised or upper-case.
    sentence_ends (List[int]): For each sentence, by annotation or else by
        punctuation, how many stems stand before its end.
    tagged (bool): Whether the classes come from part-of-speech tags.
    table (Stems): What is known of the stems.
    """

    unit_starts: numpy.ndarray
    unit_ends: numpy.ndarray
    unit_classes: numpy.ndarray
    unit_breaks: numpy.ndarray
    unit_openings: numpy.ndarray
    stem_ids: numpy.ndarray
    stem_tokens: numpy.ndarray
    stem_offsets: numpy.ndarray
    capital_tokens: numpy.ndarray
    sentence_ends: List[int]
    tagged: bool
    table: Stems

    @cached_property
    def units(self) -> List[Unit]:
        """The units in text order. What parts two of them is one `BREAK`."""
        units: List[Unit] = []
        rows = zip(
            self.unit_starts.tolist(),
            self.unit_ends.tolist(),
            self.unit_classes.tolist(),
            self.unit_breaks.tolist(),
            self.unit_openings.tolist(),
        )
        for start, end, cls, broken, opening in rows:
            if broken:
                units.append(Unit(start, start, BREAK, False))
            units.append(Unit(start, end, CLASSES[cls], opening))
        return units

    @cached_property
    def stems(self) -> List[str]:
        """The stems of all words, in order."""
        names = self.table.names
        return [names[i] for i in self.stem_ids.tolist()]

    @cached_property
    def tokens(self) -> List[int]:
        """For each stem the token that it is in."""
        tokens: List[int] = self.stem_tokens.tolist()
        return tokens

    @cached_property
    def first_stems(self) -> List[int]:
        """For each token, and one past the last, how many stems stand before it."""
        offsets: List[int] = self.stem_offsets.tolist()
        return offsets

    @cached_property
    def capitals(self) -> List[bool]:
        """For each token whether it is capitalised or upper-case."""
        capitals: List[bool] = self.capital_tokens.tolist()
        return capitals


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
            return self._read(doc, use_tags)
        key = (id(doc), use_tags)
        if key not in shared:
            shared[key] = self._read(doc, use_tags)
        return shared[key]

    def _read(self, doc: Doc, use_tags: bool) -> Words:
        if self._lexemes.n > _CACHE_SIZE:
            self._lexemes = Lexemes(self.lang, self.lexicon)
        table = self._lexemes
        rows = table.look_up(doc.to_array(ORTH).tolist(), doc.vocab.strings)
        n_stems = table.n_stems[rows]
        offsets = numpy.concatenate([[0], numpy.cumsum(n_stems)])
        is_word = n_stems > 0
        inside = _inside_compounds(is_word, table.hyphens[rows], doc)
        first = numpy.flatnonzero(is_word & ~inside)
        group = numpy.cumsum(is_word & ~inside) - 1
        last = first + numpy.bincount(group[inside], minlength=len(first))

        starts = numpy.zeros(len(rows), dtype=bool)
        has_sentences = doc.has_annotation("SENT_START")
        if has_sentences:
            starts = (doc.to_array(SENT_START) == 1) & ~inside
            starts[:1] = False
        ends = numpy.zeros_like(starts)
        parting = ~is_word & ~inside & ~table.spaces[rows]
        if not has_sentences:
            ends = parting & table.sentence_ends[rows]
        openings = _changed(starts | ends, first)
        openings[:1] = True
        tag_attr = self._tag_attribute(doc) if use_tags else None
        return Words(
            unit_starts=first,
            unit_ends=last + 1,
            unit_classes=(
                self._tagged_classes(doc.to_array(tag_attr), first, last, doc)
                if tag_attr
                else _classes(table.classes[rows], doc.to_array(IS_STOP), first, last)
            ),
            unit_breaks=_changed(parting | starts, first),
            unit_openings=openings,
            stem_ids=table.stems_of(rows),
            stem_tokens=numpy.repeat(numpy.arange(len(rows)), n_stems),
            stem_offsets=offsets,
            capital_tokens=table.capitals[rows],
            sentence_ends=_sentence_ends(offsets, first, openings, starts),
            tagged=tag_attr is not None and len(doc) > 0,
            table=table.stems,
        )

    def _tag_attribute(self, doc: Doc) -> Optional[int]:
        """Fine-grained tags in English, universal parts of speech elsewhere."""
        if self.lang == "en" and doc.has_annotation("TAG"):
            return int(TAG)
        return int(POS) if doc.has_annotation("POS") else None

    def _tagged_classes(
        self, tags: numpy.ndarray, first: numpy.ndarray, last: numpy.ndarray, doc: Doc
    ) -> numpy.ndarray:
        codes = self._tag_codes
        for tag in set(tags.tolist()):
            if tag not in codes:
                codes[tag] = CODES[_class_of_tag(doc.vocab.strings[tag])]
        classes = numpy.array([codes[tag] for tag in tags[last].tolist()], dtype="i1")
        modifier = numpy.where(last > first, CODES[ADJECTIVE], CODES[OTHER])
        found: numpy.ndarray
        found = numpy.where(classes == CODES[PARTICIPLE], modifier, classes)
        return found


def _inside_compounds(
    is_word: numpy.ndarray, is_hyphen: numpy.ndarray, doc: Doc
) -> numpy.ndarray:
    """Which tokens are hyphens between words, or words after such hyphens. There is no
    white space on either side of these."""
    inside = numpy.zeros(len(is_word), dtype=bool)
    places = numpy.flatnonzero(is_hyphen[1:-1]) + 1
    if len(places):
        spaces = doc.to_array(SPACY).astype(bool)
        joined = is_word[places - 1] & is_word[places + 1]
        joined &= ~spaces[places - 1] & ~spaces[places]
        inside[places[joined]] = True
        inside[places[joined] + 1] = True
    return inside


def _changed(events: numpy.ndarray, first: numpy.ndarray) -> numpy.ndarray:
    """For each unit whether there is an event between it, included, and the unit
    before; never for the first."""
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
    alone = numpy.where(stop[first] > 0, CODES[OTHER], classes[first])
    noun = classes[last] == CODES[NOUN]
    compound = numpy.where(noun, CODES[NOUN], CODES[ADJECTIVE])
    found: numpy.ndarray = numpy.where(last > first, compound, alone)
    return found


def _sentence_ends(
    offsets: numpy.ndarray,
    first: numpy.ndarray,
    openings: numpy.ndarray,
    starts: numpy.ndarray,
) -> List[int]:
    if not starts.any():
        ends: List[int] = offsets[first[1:][openings[1:]]].tolist()
        return [*ends, int(offsets[-1])]
    annotated = numpy.flatnonzero(starts)
    ends = offsets[annotated].tolist()
    if len(first) and first[-1] >= annotated[-1]:
        ends.append(int(offsets[-1]))
    return ends


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


_SHARED: ContextVar[Optional[Dict[Tuple[int, bool], Words]]] = ContextVar(
    "shared_words", default=None
)


@contextmanager
def shared_words() -> Iterator[None]:
    """Within this block the words of each doc are read once and kept: suggesters
    and rankers share them. The docs must stay alive and as they are."""
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)
