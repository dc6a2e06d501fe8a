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
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Dict, Optional, Union

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


def read_lexicon(path: Union[str, Path, Any], lang: str) -> Lexicon:
    """Read a lexicon file.

    path (Union[str, Path]): A file made by ``scripts/make_lexicon.py``.
    lang (str): The language it must be of.
    RAISES: ValueError if the file is not a lexicon of that language.
    """
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
        if data["lang"] != lang:
            raise ValueError(f"it is of language {data['lang']!r}, not {lang!r}")
        scale = -math.log(data["floor"])
        idf = {
            stem: cost / 100 / scale
            for cost, stems in data["costs"].items()
            for cost, stem in ((int(cost), s) for s in stems.split())
        }
        classes = {w: c for c, ws in data["classes"].items() for w in ws.split()}
    except (OSError, EOFError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a usable lexicon: {error}") from error
    return Lexicon(lang, idf, 1.0, classes)


@lru_cache(maxsize=None)
def get_lexicon(lang: str, path: Optional[str] = None) -> Lexicon:
    """The lexicon of a language: the given file, the bundled one, or an empty one.

    lang (str): Language code.
    path (Optional[str]): A lexicon file of your own.
    """
    if path is not None:
        return read_lexicon(Path(path), lang)
    bundled = files("spacy_keyphrase") / "resources" / f"{lang}.lexicon.json.gz"
    return read_lexicon(bundled, lang) if bundled.is_file() else Lexicon(lang)
