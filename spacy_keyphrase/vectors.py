"""Small static word vectors: how near a phrase is to what its document is about.

A table is one ``.npz`` file per language in ``resources/``, made by
``scripts/make_vectors.py`` from a sentence encoder. Only English ships one.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Optional, Sequence, Union

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

    def rows(self, docs: Sequence[Doc]) -> numpy.ndarray:
        """For each token of the docs the row of its word, or -1, int of shape
        (tokens,)."""
        norms = numpy.concatenate([doc.to_array(NORM) for doc in docs])
        if not len(self.keys):
            return numpy.full(len(norms), -1)
        found = numpy.searchsorted(self.keys, norms)
        found[found == len(self.keys)] = 0
        found[self.keys[found] != norms] = -1
        return found

    def similarities(
        self,
        docs: Sequence[Doc],
        starts: numpy.ndarray,
        ends: numpy.ndarray,
    ) -> numpy.ndarray:
        """Cosine of spans with their document, both the weighted sums of their words
        (as the EmbedRank paper does with sentence vectors).

        docs (Sequence[Doc]): The documents.
        starts (ndarray): First token of each span, counted through the documents.
        ends (ndarray): Token after the last.
        RETURNS (ndarray): Between -1 and 1, float of shape (spans,); 0 where no word of
            a span is known.
        """
        if not len(self.keys):
            return numpy.zeros(len(starts))
        rows = self.rows(docs)
        weights = numpy.where(rows < 0, 0, self.weights[rows])
        words = self.vectors[rows] * weights[:, None]
        # Sums over a span come from sums up to its ends.
        along = numpy.zeros(len(rows) + 1)
        first = 0
        for doc in docs:
            own = words[first : first + len(doc)]
            whole = own.sum(axis=0)
            along[first + 1 : first + len(doc) + 1] = own @ (
                whole / max(float(numpy.linalg.norm(whole)), 1e-9)
            )
            first += len(doc)
        numpy.cumsum(along, out=along)
        squares = _squares(words, starts, ends)
        similarities: numpy.ndarray = along[ends] - along[starts]
        similarities /= numpy.maximum(numpy.sqrt(numpy.maximum(squares, 0)), 1e-9)
        return similarities


def _squares(
    words: numpy.ndarray, starts: numpy.ndarray, ends: numpy.ndarray
) -> numpy.ndarray:
    """The squared lengths of the sums over spans: sums of the products of two words,
    k apart."""
    squares = numpy.zeros(len(starts))
    lengths = ends - starts
    for k in range(int(lengths.max()) if len(starts) else 0):
        factor = 2 if k else 1
        longer = numpy.flatnonzero(lengths > k)
        if len(longer) > len(words) / 8:
            products = numpy.zeros(len(words) + 1 - k)
            products[1:] = _dot(words[: len(words) - k], words[k:])
            numpy.cumsum(products, out=products)
            inside = products[ends[longer] - k] - products[starts[longer]]
            squares[longer] += factor * inside
            continue
        # Of a few, pair by pair, from the last.
        for j in range(int(lengths.max()) - k):
            some = longer[lengths[longer] > k + j]
            last = ends[some] - 1 - j
            squares[some] += factor * _dot(words[last - k], words[last])
    return squares


def _dot(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    products: numpy.ndarray = numpy.einsum("ij,ij->i", a, b)
    return products


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
