"""What there is to know of the words of a language, as arrays that grow."""

import re
from threading import Lock
from typing import Any, Dict, List, Tuple

import numpy
from spacy.strings import StringStore, hash_string  # type: ignore[attr-defined]

from .lexicon import ADJECTIVE, GERUND, NOUN, OTHER, PARTICIPLE, Lexicon
from .normalize import get_normalizer, is_ideograph

BREAK = "B"
# Word classes by number; what is no word is a break.
CLASSES = (BREAK, NOUN, ADJECTIVE, PARTICIPLE, GERUND, OTHER)
CODES = {name: code for code, name in enumerate(CLASSES)}
_HYPHENS = frozenset("-\u2010\u2011\u2013")
_SENTENCE_ENDS = frozenset(".?!\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4")
# Markup, addresses and code that a tokenizer left in one token.
_NOT_A_WORD = re.compile(r"[<>@\\|=]|://|^www\.")
# Languages that write their nouns with a capital, and their adjectives' endings.
CAPITAL_NOUNS = frozenset(("de", "lb"))
_ATTRIBUTIVE = ("e", "em", "en", "er", "es")

Column = Tuple[str, Any]


class _Table:
    """Columns of numbers that rows are added to."""

    columns: Tuple[Column, ...]

    def __init__(self) -> None:
        self.n = 0
        for name, dtype in self.columns:
            setattr(self, name, numpy.zeros(64, dtype=dtype))

    def add(self, *values: Any) -> int:
        """Add a row and return its number."""
        for (name, _), value in zip(self.columns, values):
            column = getattr(self, name)
            if self.n == len(column):
                column = numpy.concatenate([column, numpy.zeros_like(column)])
                setattr(self, name, column)
            column[self.n] = value
        self.n += 1
        return self.n - 1


class Stems(_Table):
    """The stems of a language.

    names (List[str]): The stems themselves.
    hashes (ndarray): The same in every process, uint64.
    idf (ndarray): Inverse document frequency, float.
    known (ndarray): Whether the lexicon has it, bool.
    """

    hashes: numpy.ndarray
    idf: numpy.ndarray
    known: numpy.ndarray
    columns = (("hashes", "u8"), ("idf", "f8"), ("known", "?"))

    def __init__(self, lexicon: Lexicon):
        super().__init__()
        self.names: List[str] = []
        self._lexicon = lexicon
        self._rows: Dict[str, int] = {}

    def row(self, stem: str) -> int:
        """The row of a stem."""
        row = self._rows.get(stem)
        if row is None:
            idf = self._lexicon.idf.get(stem)
            row = self._rows[stem] = self.add(
                hash_string(stem),
                self._lexicon.rare if idf is None else idf,
                idf is not None,
            )
            self.names.append(stem)
        return row


class Lexemes(_Table):
    """The tokens of a language, each known by its exact text.

    n_stems (ndarray): How many stems a token has, int.
    first_stem (ndarray): Row of its first stem, int.
    classes (ndarray): Code of the word class, without regard to stop words and tags.
    hyphens, spaces, sentence_ends, capitals (ndarray): What a token is, bool.
    stems (Stems): The stems.
    """

    n_stems: numpy.ndarray
    first_stem: numpy.ndarray
    classes: numpy.ndarray
    hyphens: numpy.ndarray
    spaces: numpy.ndarray
    sentence_ends: numpy.ndarray
    capitals: numpy.ndarray
    columns = (
        ("n_stems", "i4"),
        ("first_stem", "i4"),
        ("classes", "i1"),
        ("hyphens", "?"),
        ("spaces", "?"),
        ("sentence_ends", "?"),
        ("capitals", "?"),
    )

    def __init__(self, lang: str, lexicon: Lexicon):
        super().__init__()
        self.lang = lang
        self.lexicon = lexicon
        self.stems = Stems(lexicon)
        # The stems of tokens that have several.
        self._several: Dict[int, List[int]] = {}
        self._normalizer = get_normalizer(lang)
        self._rows: Dict[int, int] = {}
        self._lock = Lock()

    def look_up(self, orths: List[int], strings: StringStore) -> numpy.ndarray:
        """The rows of tokens.

        orths (List[int]): Hashes of their texts.
        strings (StringStore): Where the texts are.
        RETURNS (ndarray): Int of shape (tokens,).
        """
        rows = self._rows
        try:
            found = [rows[orth] for orth in orths]
        except KeyError:
            with self._lock:
                for orth in orths:
                    if orth not in rows:
                        # Other threads see a row only when it is complete.
                        rows[orth] = self._add(strings[orth])
            found = [rows[orth] for orth in orths]
        return numpy.array(found, dtype="i4")

    def stems_of(self, rows: numpy.ndarray) -> numpy.ndarray:
        """The rows of the stems of tokens, in order.

        rows (ndarray): Rows of the tokens.
        """
        n = self.n_stems[rows]
        stems: numpy.ndarray = numpy.repeat(self.first_stem[rows], n)
        if len(n) and n.max() > 1:
            ends = numpy.cumsum(n)
            for i in numpy.flatnonzero(n > 1):
                stems[ends[i] - n[i] : ends[i]] = self._several[int(rows[i])]
        return stems

    def _add(self, text: str) -> int:
        stems = [self.stems.row(stem) for stem in self._normalizer.stems(text)]
        if len(stems) > 1:
            self._several[self.n] = stems
        return self.add(
            len(stems),
            stems[0] if stems else 0,
            CODES[self._class(text) if stems else BREAK],
            text in _HYPHENS,
            text.isspace(),
            not stems and text[-1:] in _SENTENCE_ENDS,
            text.istitle() or text.isupper(),
        )

    def _class(self, text: str) -> str:
        if (
            text[0].isdigit()
            or (len(text) == 1 and not is_ideograph(text))
            or _NOT_A_WORD.search(text)
        ):
            return OTHER
        if self.lang in CAPITAL_NOUNS and text[0].islower():
            return ADJECTIVE if text.endswith(_ATTRIBUTIVE) else OTHER
        return self.lexicon.word_class(text.lower())
