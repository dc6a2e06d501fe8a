"""Small static word vectors: how near a phrase is to what its document is about.

A table is one ``.npz`` file per language in ``resources/``, made by
``scripts/make_vectors.py`` from a sentence encoder. Only English ships one.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Optional, Union

import numpy
from spacy.attrs import NORM
from spacy.tokens import Doc


@dataclass(frozen=True)
class WordVectors:
    """Word vectors of one language, 8 bits a number.

    keys (ndarray): Hashes of the norms of the words, ascending, uint64 of shape
        (words,).
    vectors (ndarray): Of length 127 each, int8 of shape (words, width).
    weights (ndarray): How much a word says about a document, float of shape (words,).
    """

    keys: numpy.ndarray
    vectors: numpy.ndarray
    weights: numpy.ndarray

    def rows(self, doc: Doc) -> numpy.ndarray:
        """For each token the row of its word, or -1, int of shape (tokens,)."""
        norms = doc.to_array(NORM)
        if not len(self.keys):
            return numpy.full(len(norms), -1)
        found = numpy.searchsorted(self.keys, norms).clip(max=len(self.keys) - 1)
        rows: numpy.ndarray = numpy.where(self.keys[found] == norms, found, -1)
        return rows

    def similarities(
        self, doc: Doc, starts: numpy.ndarray, ends: numpy.ndarray
    ) -> numpy.ndarray:
        """Cosine of spans with their document, both the weighted sums of their words
        (as the EmbedRank paper does with sentence vectors).

        doc (Doc): The document.
        starts (ndarray): First token of each span.
        ends (ndarray): Token after the last.
        RETURNS (ndarray): Between -1 and 1, float of shape (spans,); 0 where no word of
            a span is known.
        """
        rows = self.rows(doc)
        known = rows >= 0
        words = numpy.zeros((len(rows) + 1, self.vectors.shape[1]), dtype="f4")
        words[1:][known] = self.vectors[rows[known]] * self.weights[rows[known], None]
        sums = numpy.cumsum(words, axis=0, dtype="f8")
        spans, whole = sums[ends] - sums[starts], sums[-1]
        lengths = numpy.linalg.norm(spans, axis=1) * numpy.linalg.norm(whole)
        similarities: numpy.ndarray = (spans @ whole) / numpy.maximum(lengths, 1e-9)
        return similarities


def read_vectors(path: Union[str, Path]) -> WordVectors:
    """Read a table.

    path (Union[str, Path]): What ``scripts/make_vectors.py`` wrote.
    RAISES: ValueError if it is no such table.
    """
    try:
        with numpy.load(path, allow_pickle=False) as data:
            table = WordVectors(
                data["keys"], data["vectors"], data["weights"].astype("f4")
            )
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is not a table of word vectors: {error}.") from error
    if not len(table.keys) == len(table.vectors) == len(table.weights):
        raise ValueError(f"{path} is damaged: its parts differ in length.")
    return table


@cache
def get_vectors(lang: str) -> Optional[WordVectors]:
    """The bundled table of a language, or None.

    lang (str): Language code.
    """
    bundled = files("spacy_keyphrase") / "resources" / f"{lang}.vectors.npz"
    if not bundled.is_file():
        return None
    with as_file(bundled) as path:
        return read_vectors(path)
