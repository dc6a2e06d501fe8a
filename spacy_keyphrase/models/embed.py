"""Words by their hashed attributes and by the bundled word vectors."""

from functools import partial
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import HashEmbed, Linear, Maxout, Model, NumpyOps, concatenate
from thinc.types import Floats2d, Ints2d

from ..vectors import WordVectors, get_vectors
from .predict import predict_by_layer
from .remembered import WordMemory, fingerprint

# Length of a word vector; the table is of bytes.
_LENGTH = 3 / 127
_PRIME = numpy.uint64(0x9E3779B97F4A7C15)


@registry.architectures("spacy_keyphrase.VectorHashEmbed.v1")  # type: ignore
def build_vector_hash_embed(
    width: int,
    attrs: Sequence[str] = ("NORM", "PREFIX", "SUFFIX", "SHAPE"),
    rows: Sequence[int] = (5000, 1000, 2500, 1000),
    vectors: Optional[str] = None,
    word_dropout: float = 0.0,
) -> Model[List[Doc], List[Floats2d]]:
    """Embed tokens as `spacy.MultiHashEmbed.v2` does, each word of a batch once, and
    with the word vectors of this package instead of those of the vocabulary. On the
    CPU words are remembered from batch to batch, as long as nobody trains.

    width (int): Width of the output, and of each table.
    attrs (Sequence[str]): Attributes that have a table. Where words are withheld
        in training, all but SHAPE are.
    rows (Sequence[int]): Rows of each table.
    vectors (Optional[str]): Language of the bundled table of word vectors; by default
        none is used. The table is not trained and not saved with the model.
    word_dropout (float): Share of the docs of which, in training, some words are
        withheld: a share of its vocabulary, between none and all. A network learns
        from them what it can know without knowing the words.
    RETURNS (Model[List[Doc], List[Floats2d]]): The embedding layer, for
        `spacy.Tok2Vec.v2`.
    RAISES: ValueError where no table of that language is bundled, or at settings out
        of range.
    """
    if len(rows) != len(attrs):
        raise ValueError(
            f"There are {len(attrs)} attrs and {len(rows)} rows; each needs its own."
        )
    if not 0 <= word_dropout <= 1:
        raise ValueError(f"word_dropout must be between 0 and 1, not {word_dropout}.")
    table = None if vectors is None else get_vectors(vectors)
    if vectors is not None and table is None:
        raise ValueError(f"No word vectors of the language {vectors!r} are bundled.")
    hashed: Model[Ints2d, Floats2d] = concatenate(
        *(
            HashEmbed(width, n, column=i, seed=8 + i, dropout=0.0)
            for i, n in enumerate(rows)
        )
    )
    layers: List[Model[Any, Any]] = [hashed]
    if table is not None:
        layers.append(Linear(width, table.vectors.shape[1]))
    n_parts = len(rows) + (table is not None)
    mix = Maxout(width, width * n_parts, nP=3, dropout=0.0, normalize=True)
    return Model(
        "vector_hash_embed",
        partial(_forward, WordMemory()),
        init=_init,
        layers=[*layers, mix],
        attrs={
            "columns": list(attrs),
            "vectors": vectors,
            "word_dropout": word_dropout,
        },
        dims={"nO": width},
    )


def _init(
    model: Model[List[Doc], List[Floats2d]],
    X: Optional[List[Doc]] = None,
    Y: Optional[List[Floats2d]] = None,
) -> None:
    for layer in model.layers:
        layer.initialize()


def _forward(
    memory: WordMemory,
    model: Model[List[Doc], List[Floats2d]],
    docs: List[Doc],
    is_train: bool,
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[Doc]]]:
    ops: Any = model.ops
    columns, language = model.attrs["columns"], model.attrs["vectors"]
    table = get_vectors(language) if language else None
    lengths = [len(doc) for doc in docs]
    attrs = numpy.concatenate([_attributes(doc, columns) for doc in docs])
    rows = numpy.full(len(attrs), -1)
    if table is not None:
        rows = table.rows(docs)
    if is_train and model.attrs["word_dropout"]:
        kept = [column == "SHAPE" for column in columns]
        attrs, rows = _withhold(
            attrs, rows, lengths, numpy.array(kept), model.attrs["word_dropout"]
        )
    keys, first, places = numpy.unique(
        _keys(attrs, rows), return_index=True, return_inverse=True
    )
    attrs, rows = attrs[first], rows[first]

    backprop_words: Any = None
    if is_train or not isinstance(ops, NumpyOps):
        Y, backprop_words = _embed(model, attrs, rows, is_train)
    else:
        Y, known = memory.recall(
            keys,
            fingerprint(model),
            lambda new: _embed(model, attrs[new], rows[new], False)[0],
        )
        places = known[places]
    places = ops.asarray1i(places)

    def backprop(d_outputs: List[Floats2d]) -> List[Doc]:
        dY = ops.alloc2f(*Y.shape)
        ops.scatter_add(dY, places, ops.xp.concatenate(d_outputs))
        backprop_words(dY)
        return docs

    ends = numpy.cumsum(lengths)
    tokens = Y[places]
    return [tokens[end - n : end] for end, n in zip(ends, lengths)], backprop


def _embed(
    model: Model[Any, Any], attrs: numpy.ndarray, rows: numpy.ndarray, is_train: bool
) -> Tuple[Any, Optional[Callable[[Floats2d], None]]]:
    """Words by their attributes and the rows of their vectors; in training with what
    goes back through them."""
    ops: Any = model.ops
    hashed, mix = model.layers[0], model.layers[-1]
    X, backprop_hashed = hashed(ops.asarray2i(attrs, dtype="uint64"), is_train)
    width = X.shape[1]
    backprop_vectors: Any = None
    language = model.attrs["vectors"]
    table = get_vectors(language) if language else None
    if table is not None:
        vectors = ops.asarray2f(_read(table, rows))
        projected, backprop_vectors = model.layers[1](vectors, is_train)
        X = ops.xp.hstack([X, projected])
    if not is_train:
        return predict_by_layer(mix, X), None
    Y, backprop_mix = mix(X, True)

    def backprop(dY: Floats2d) -> None:
        dX = backprop_mix(dY)
        backprop_hashed(ops.as_contig(dX[:, :width]))
        if backprop_vectors is not None:
            backprop_vectors(ops.as_contig(dX[:, width:]))

    return Y, backprop


def _attributes(doc: Doc, columns: Sequence[str]) -> numpy.ndarray:
    """Attributes of the tokens of a doc, uint64 of shape (tokens, columns)."""
    attrs = numpy.asarray(doc.to_array([*columns]), dtype="u8")
    return attrs.reshape((len(doc), len(columns)))


def _keys(attrs: numpy.ndarray, rows: numpy.ndarray) -> numpy.ndarray:
    """One number for all that is read of a token."""
    keys: numpy.ndarray = rows.astype("u8")
    for column in attrs.T:
        keys = (keys ^ column) * _PRIME
        keys ^= keys >> numpy.uint64(29)
    return keys


def _read(table: WordVectors, rows: numpy.ndarray) -> numpy.ndarray:
    """The vectors of rows, zeros for -1, float of shape (rows, width)."""
    vectors: numpy.ndarray = table.vectors[rows].astype("f4") * _LENGTH
    vectors[rows < 0] = 0
    return vectors


def _withhold(
    attrs: numpy.ndarray,
    rows: numpy.ndarray,
    lengths: List[int],
    kept: numpy.ndarray,
    rate: float,
) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Put words that nobody knows in place of some: of a share `rate` of the docs a
    random share of the vocabulary. A word that comes again is the same unknown."""
    attrs, rows = attrs.copy(), rows.copy()
    random = numpy.random
    end = 0
    for n in lengths:
        start, end = end, end + n
        if random.random() >= rate:
            continue
        words, word = numpy.unique(attrs[start:end, 0], return_inverse=True)
        withheld = numpy.flatnonzero(
            (random.random(len(words)) < random.random())[word]
        )
        unknown = random.randint(2**62, size=(len(words), len(kept))).astype("u8")
        attrs[start + withheld] = numpy.where(
            kept, attrs[start + withheld], unknown[word[withheld]]
        )
        rows[start + withheld] = -1
    return attrs, rows
