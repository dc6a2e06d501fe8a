"""When two phrases are the same, and when a phrase is in a text.

This is the only module that decides equality. A text becomes words: runs of
letters and digits, punctuation dropped, so that "state-of-the-art" and "state
of the art" are one phrase. Each word is lower-cased and stemmed; two phrases
are equal when their sequences of stems are equal. English is stemmed with the
Porter stemmer in NLTK's default mode, the convention of the field; other
languages with their Snowball stemmer; the rest is only lower-cased.
"""

import re
from functools import cache, lru_cache
from threading import Lock
from typing import Callable, Dict, Iterable, List, Sequence, Tuple

from .porter import porter_stem

# spaCy's language code -> Snowball algorithm.
SNOWBALL: Dict[str, str] = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}

# Python's \w leaves out combining marks, which would cut Arabic, Hebrew and
# Indic words in pieces; scripts written without spaces count by character.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
    "\u20d0-\u20f0\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# The tail keeps "C++" and "C#" apart from "C".
_TAIL = r"(?:(?:\+\+|\#)(?!\w))?"
_WORD = re.compile(rf"[{_SINGLE}]|(?:(?![{_SINGLE}])[^\W_][{_MARKS}]*)+{_TAIL}")
_IDEOGRAPH = re.compile(f"[{_SINGLE}]")
_ASCII_WORD = re.compile(rf"[^\W_]+{_TAIL}", re.ASCII)


def split_words(text: str) -> List[str]:
    """The words of a text, case kept, punctuation and white space dropped."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def is_ideograph(char: str) -> bool:
    """Whether a character is of a script that has no spaces between words and is
    counted as a word of its own."""
    return _IDEOGRAPH.fullmatch(char) is not None


def _identity(word: str) -> str:
    return word


def _make_stemmer(lang: str) -> Callable[[str], str]:
    if lang == "en":
        return porter_stem
    if lang in SNOWBALL:
        import snowballstemmer

        stemmer = snowballstemmer.stemmer(SNOWBALL[lang])
        lock = Lock()  # Snowball stemmers keep the word in the object

        def stem(word: str) -> str:
            with lock:
                return str(stemmer.stemWord(word))

        return stem
    return _identity


class Normalizer:
    """Words, stems and normal forms of one language; memoised.

    lang (str): spaCy's two-letter code. "en" means Porter stems.
    """

    def __init__(self, lang: str = "en"):
        self.lang = lang
        stemmer = _make_stemmer(lang)

        @lru_cache(maxsize=1 << 17)
        def stem(word: str) -> str:
            # A stem must stay one non-empty word, or sequences could not be compared.
            return stemmer(word) or word

        @lru_cache(maxsize=1 << 16)
        def stems(text: str) -> Tuple[str, ...]:
            return tuple(map(stem, split_words(text.lower())))

        self._stem = stem
        self._stems = stems

    def __reduce__(self) -> Tuple[Callable[[str], "Normalizer"], Tuple[str]]:
        return get_normalizer, (self.lang,)

    def stem(self, word: str) -> str:
        """The stem of one word, lower-cased first."""
        return self._stem(word.lower())

    def stems(self, text: str) -> Tuple[str, ...]:
        """The stems of the words of a text, in order.

        Short texts (words, phrases) are memoised.
        """
        if len(text) > 64:
            stem = self._stem
            return tuple([stem(word) for word in split_words(text.lower())])
        return self._stems(text)

    def form(self, phrase: str) -> str:
        """The normal form of a phrase: its stems joined by one space.

        Two phrases are equal when their forms are. A phrase without a single
        word (an emoji, "?!") is its own form. Empty for white space.
        """
        return " ".join(self.stems(phrase)) or " ".join(phrase.lower().split())

    def join(self, words: Iterable[str]) -> str:
        """The normal form of a phrase that has already been cut into words,
        which are stemmed as they stand: nothing is split or dropped."""
        stem = self._stem
        return " ".join([stem(word.lower()) for word in words])


@cache
def get_normalizer(lang: str = "en") -> Normalizer:
    """The shared normalizer of a language."""
    return Normalizer(lang)


def normal_form(phrase: str, lang: str = "en") -> str:
    """The normal form that decides whether two phrases are equal.

    phrase (str): Any text.
    lang (str): Language code; "en" stems with Porter's algorithm.
    RETURNS (str): Lower-cased stems joined by a space.
    """
    return get_normalizer(lang).form(phrase)


def contains_form(form: str, text_form: str) -> bool:
    """Whether a phrase's stems are a contiguous sub-sequence of a text's.

    form (str): Normal form of the phrase.
    text_form (str): Normal form of the text.
    """
    return bool(form) and f" {form} " in f" {text_form} "


def is_present(phrase: str, sections: Sequence[str], lang: str = "en") -> bool:
    """Whether a phrase is in a text: contiguous, by stems.

    phrase (str): The phrase.
    sections (Sequence[str]): The parts of the text, such as title and body. No
        match crosses from one part to the next. Give one joined string to let
        matches cross, as the usual evaluation scripts do.
    lang (str): Language code.
    """
    if isinstance(sections, str):
        sections = [sections]
    normalizer = get_normalizer(lang)
    form = normalizer.form(phrase)
    if not normalizer.stems(phrase):
        # Without a word, such as an emoji, it is looked for as it stands.
        return bool(form) and any(form in part.lower() for part in sections)
    return any(contains_form(form, normalizer.form(part)) for part in sections)
