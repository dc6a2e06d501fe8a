"""What is known of a language's words before the first document is read.

A lexicon is one small gzipped JSON file per language in ``resources/``, made by
``scripts/make_lexicon.py`` from training texts: document frequencies of stems
in background text, and the word class of words that a stop-word list does not
know. Only English ships one; every other language works without.
"""

import gzip
import json
import math
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Dict, Optional

# Word classes: noun, adjective, participle (adjective or verb), the participle in
# -ing (noun, adjective or verb), other.
NOUN, ADJECTIVE, PARTICIPLE, GERUND, OTHER = "N", "A", "P", "G", "O"


@dataclass(frozen=True)
class Lexicon:
    """Background knowledge of one language; empty where there is none.

    lang (str): Language code.
    idf (Dict[str, float]): Inverse document frequency of stems, scaled so that
        a word of every document has 0 and an unseen word `rare`.
    rare (float): The idf of a stem that is not in the table.
    classes (Dict[str, str]): Word class by lower-cased word.
    """

    lang: str = ""
    idf: Dict[str, float] = field(default_factory=dict)
    rare: float = 1.0
    classes: Dict[str, str] = field(default_factory=dict)

    def word_class(self, word: str) -> str:
        """The usual class of a lower-cased word that is no stop word.

        Without a lexicon every such word may be a noun. An unknown English word
        is guessed from its ending.
        """
        if not self.classes:
            return NOUN
        known = self.classes.get(word)
        return known if known is not None else guess_class(word)


def guess_class(word: str) -> str:
    """The class that an English word's ending suggests."""
    if word.endswith("ly"):
        return OTHER
    if word.endswith("ing"):
        return GERUND
    return PARTICIPLE if word.endswith("ed") else NOUN


def parse_lexicon(packed: bytes, lang: str, origin: str) -> Lexicon:
    """Read the bytes of a lexicon file.

    packed (bytes): What ``scripts/make_lexicon.py`` wrote.
    lang (str): The language it must be of.
    origin (str): The name of the file, for errors.
    RAISES: ValueError if it is not a lexicon of that language.
    """
    try:
        data = json.loads(gzip.decompress(packed))
        if data["lang"] != lang:
            raise ValueError(f"it is of language {data['lang']!r}, not {lang!r}")
        scale = -math.log(data["floor"])
        idf = {
            stem: int(cost) / 100 / scale
            for cost, stems in data["costs"].items()
            for stem in stems.split()
        }
        classes = {w: c for c, ws in data["classes"].items() for w in ws.split()}
    except (OSError, EOFError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{origin} is not a usable lexicon: {error}.") from error
    return Lexicon(lang, idf, 1.0, classes)


@cache
def get_lexicon(lang: str, path: Optional[str] = None) -> Lexicon:
    """The lexicon of a language: the given file, the bundled one, or an empty one.

    lang (str): Language code.
    path (Optional[str]): A lexicon file of your own.
    """
    if path is not None:
        return parse_lexicon(Path(path).read_bytes(), lang, path)
    bundled = files("spacy_keyphrase") / "resources" / f"{lang}.lexicon.json.gz"
    if not bundled.is_file():
        return Lexicon(lang)
    return parse_lexicon(bundled.read_bytes(), lang, bundled.name)
