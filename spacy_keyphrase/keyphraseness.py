"""How often phrases were keyphrases elsewhere: the keyphrase frequency of KEA (Frank et
al. 1999, "Domain-Specific Keyphrase Extraction").

A table is one ``.npz`` file per language in ``resources/``, made by
``scripts/make_keyphraseness.py`` from corpora of author keywords. Only English ships
one.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Optional, Tuple, Union

import numpy

# A phrase is in the table from so many documents on that have it as a keyphrase.
LEAST = 2


@dataclass(frozen=True)
class Keyphraseness:
    """Counts of phrases over a corpus with gold.

    keys (ndarray): Keys of the stems of the phrases, as of `Mentions`, ascending,
        uint64 of shape (phrases,).
    gold (ndarray): Documents that have each as a keyphrase, int of shape (phrases,).
    docs (ndarray): Documents that have each as a candidate, int of shape (phrases,).
    """

    keys: numpy.ndarray
    gold: numpy.ndarray
    docs: numpy.ndarray

    def look_up(
        self, keys: numpy.ndarray, own_gold: Optional[numpy.ndarray] = None
    ) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """The counts of the phrases of a document, zeros of those unknown.

        keys (ndarray): Keys of the phrases, uint64 of shape (n,).
        own_gold (Optional[ndarray]): Which of them are gold, bool of the same shape,
            of a document that was counted itself: the counts are those without it.
        RETURNS (Tuple[ndarray, ndarray]): `gold` and `docs`, float of shape (n,).
        """
        gold = docs = numpy.zeros(len(keys))
        if len(self.keys):
            found = numpy.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
            known = self.keys[found] == keys
            gold = numpy.where(known, self.gold[found], 0.0)
            docs = numpy.where(known, self.docs[found], 0.0)
        if own_gold is not None:
            gold, docs = gold - own_gold, docs - 1
            # What would not be in a table without this document is unknown.
            gold, docs = (numpy.where(gold >= LEAST, n, 0) for n in (gold, docs))
        return gold, docs


def read_keyphraseness(path: Union[str, Path]) -> Keyphraseness:
    """Read a table.

    path (Union[str, Path]): What ``scripts/make_keyphraseness.py`` wrote.
    RAISES: ValueError if it is no such table.
    """
    try:
        with numpy.load(path, allow_pickle=False) as data:
            table = Keyphraseness(data["keys"], data["gold"], data["docs"])
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is not a table of keyphrases: {error}.") from error
    if not len(table.keys) == len(table.gold) == len(table.docs):
        raise ValueError(f"{path} is damaged: its parts differ in length.")
    return table


@cache
def get_keyphraseness(lang: str) -> Optional[Keyphraseness]:
    """The bundled table of a language, or None.

    lang (str): Language code.
    """
    bundled = files("spacy_keyphrase") / "resources" / f"{lang}.keyphraseness.npz"
    if not bundled.is_file():
        return None
    with as_file(bundled) as path:
        return read_keyphraseness(path)
