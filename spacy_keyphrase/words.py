"""The words of a doc: one pass over the tokens that everything else reads.

Tokens become units. A unit is a word or a compound of words joined by hyphens
("state-of-the-art"); it has a class: noun, adjective, participle, other, break.
"""

import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from spacy.attrs import IS_STOP, ORTH, POS, SENT_START, SPACY, TAG
from spacy.tokens import Doc

from .lexicon import ADJECTIVE, NOUN, OTHER, PARTICIPLE, Lexicon, get_lexicon
from .normalize import get_normalizer, is_ideograph

BREAK = "B"
_HYPHENS = frozenset("-\u2010\u2011\u2013")
_SENTENCE_ENDS = frozenset(".?!\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4")
# Tags of words that modify as the last part of a compound ("web-based", "90-day").
_MODIFIER_TAGS = ("VB", "RB", "CD", "IN", "FW")
_MODIFIER_POS = frozenset(("VERB", "ADV", "NUM", "ADP", "X"))
# Markup, addresses and code that a tokenizer left in one token.
_NOT_A_WORD = re.compile(r"[<>@\\|=]|://|^www\.")
# Languages that write their nouns with a capital, and their adjectives' endings.
CAPITAL_NOUNS = frozenset(("de", "lb"))
_ATTRIBUTIVE = ("e", "em", "en", "er", "es")
_CACHE_SIZE = 200_000


class Unit(NamedTuple):
    """A word, a hyphenated compound, or a break between words."""

    start: int  # first token
    end: int  # token after the last
    cls: str  # NOUN, ADJECTIVE, PARTICIPLE, OTHER or BREAK
    sentence_start: bool  # the first word of its sentence


@dataclass
class Words:
    """The words of a doc.

    units (List[Unit]): In text order. Punctuation between words is one `BREAK`.
    stems (List[str]): The stems of all words, in order.
    tokens (List[int]): For each stem the token that it is in.
    first_stems (List[int]): For each token, and one past the last, how many stems
        stand before it.
    sentence_ends (List[int]): For each sentence, by annotation or else by
        punctuation, how many stems stand before its end.
    capitals (List[bool]): For each token whether it is capitalised or upper-case.
    tagged (bool): Whether the classes come from part-of-speech tags.
    """

    units: List[Unit]
    stems: List[str]
    tokens: List[int]
    first_stems: List[int]
    sentence_ends: List[int]
    capitals: List[bool]
    tagged: bool


class _Lexeme(NamedTuple):
    stems: Tuple[str, ...]
    cls: str  # without regard to stop words and tags
    is_hyphen: bool
    is_space: bool
    ends_sentence: bool
    is_capital: bool


class WordReader:
    """Reads the words of docs in one language; remembers what it knows of a token."""

    def __init__(self, lang: str, lexicon: Optional[Lexicon] = None):
        self.lang = lang
        self.lexicon = lexicon or get_lexicon(lang)
        self._normalizer = get_normalizer(lang)
        self._lexemes: Dict[int, _Lexeme] = {}
        self._tag_classes: Dict[int, str] = {}

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
        tag_attr = self._tag_attribute(doc) if use_tags else None
        has_sentences = doc.has_annotation("SENT_START")
        lexemes = self._look_up(doc)
        spaces = doc.to_array(SPACY).tolist()
        starts = doc.to_array(SENT_START).tolist() if has_sentences else []
        tags = doc.to_array(tag_attr).tolist() if tag_attr else []
        stop = [] if tags else doc.to_array(IS_STOP).tolist()

        units: List[Unit] = []
        stems: List[str] = []
        tokens: List[int] = []
        first_stems: List[int] = []
        sentence_ends: List[int] = []
        opening, broken = True, False  # no word yet in the sentence; since the break
        i, n = 0, len(lexemes)
        while i < n:
            known, cls, _, is_space, ends_sentence, _ = lexemes[i]
            if starts and starts[i] == 1 and i:
                sentence_ends.append(len(stems))
                opening = broken = True
            first_stems.append(len(stems))
            if not known:
                if not is_space:
                    broken = True
                    if ends_sentence and not starts and not opening:
                        sentence_ends.append(len(stems))
                        opening = True
                i += 1
                continue
            stems += known
            tokens += [i] * len(known)
            j = i + 1
            # A compound has no white space on either side of its hyphens.
            while (
                j + 1 < n
                and lexemes[j][2]
                and not spaces[j - 1]
                and not spaces[j]
                and lexemes[j + 1][0]
            ):
                first_stems += [len(stems), len(stems)]
                stems += lexemes[j + 1][0]
                tokens += [j + 1] * len(lexemes[j + 1][0])
                j += 2
            if tags:
                cls = self._tagged_class(tags[j - 1], j - i, doc)
            elif j - i > 1:
                cls = NOUN if lexemes[j - 1][1] == NOUN else ADJECTIVE
            elif stop[i]:
                cls = OTHER
            if broken and units:
                units.append(Unit(i, i, BREAK, False))
            units.append(Unit(i, j, cls, opening))
            opening = broken = False
            i = j
        first_stems.append(len(stems))
        if not opening or not sentence_ends:
            sentence_ends.append(len(stems))
        capitals = [lexeme.is_capital for lexeme in lexemes]
        return Words(
            units, stems, tokens, first_stems, sentence_ends, capitals, bool(tags)
        )

    def _look_up(self, doc: Doc) -> List[_Lexeme]:
        lexemes = self._lexemes
        if len(lexemes) > _CACHE_SIZE:
            lexemes.clear()
        orths = doc.to_array(ORTH).tolist()
        for orth in set(orths):
            if orth not in lexemes:
                lexemes[orth] = self._lexeme(doc.vocab.strings[orth])
        return [lexemes[orth] for orth in orths]

    def _lexeme(self, text: str) -> _Lexeme:
        stems = self._normalizer.stems(text)
        if not stems:
            cls = BREAK
        elif (
            text[0].isdigit()
            or (len(text) == 1 and not is_ideograph(text))
            or _NOT_A_WORD.search(text)
        ):
            cls = OTHER
        elif self.lang in CAPITAL_NOUNS and text[0].islower():
            cls = ADJECTIVE if text.endswith(_ATTRIBUTIVE) else OTHER
        else:
            cls = self.lexicon.word_class(text.lower())
        return _Lexeme(
            stems=stems,
            cls=cls,
            is_hyphen=text in _HYPHENS,
            is_space=text.isspace(),
            ends_sentence=not stems and text[-1:] in _SENTENCE_ENDS,
            is_capital=text.istitle() or text.isupper(),
        )

    def _tag_attribute(self, doc: Doc) -> Optional[int]:
        """Fine-grained tags in English, universal parts of speech elsewhere."""
        if self.lang == "en" and doc.has_annotation("TAG"):
            return int(TAG)
        return int(POS) if doc.has_annotation("POS") else None

    def _tagged_class(self, tag: int, n_tokens: int, doc: Doc) -> str:
        cls = self._tag_classes.get(tag)
        if cls is None:
            cls = self._tag_classes[tag] = _class_of_tag(doc.vocab.strings[tag])
        if cls == PARTICIPLE:
            return ADJECTIVE if n_tokens > 1 else OTHER
        return cls


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
