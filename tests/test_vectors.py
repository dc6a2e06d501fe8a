"""Word vectors, and how near a phrase is to its document."""

import numpy
import pytest
import spacy
from spacy.strings import hash_string

from spacy_keyphrase.vectors import WordVectors, get_vectors, read_vectors

WORDS = {"graph": (1, 0), "network": (0, 1), "the": (1, 0)}
WEIGHTS = {"graph": 2.0, "network": 1.0, "the": 0.0}


@pytest.fixture
def table():
    words = sorted(WORDS, key=hash_string)
    return WordVectors(
        numpy.array([hash_string(word) for word in words], dtype="u8"),
        numpy.array([WORDS[word] for word in words], dtype="i1") * 127,
        numpy.array([WEIGHTS[word] for word in words], dtype="f4"),
    )


def test_similarities(table):
    """The document is 2 graph + 1 network: (4, 1) with graph twice."""
    doc = spacy.blank("en").make_doc("The Graph network, a graph unheard")
    starts, ends = numpy.array([1, 2, 1, 0, 6]), numpy.array([2, 3, 3, 1, 7])
    graph, network, both, the, unknown = table.similarities([doc], starts, ends)
    norm = numpy.sqrt(17)
    assert graph == pytest.approx(4 / norm)
    assert network == pytest.approx(1 / norm)
    assert both == pytest.approx(9 / norm / numpy.sqrt(5))
    assert the == unknown == 0


def test_no_words(table):
    doc = spacy.blank("en").make_doc("")
    none = numpy.zeros(0, dtype=int)
    assert table.similarities([doc], none, none).shape == (0,)
    empty = WordVectors(table.keys[:0], table.vectors[:0], table.weights[:0])
    doc = spacy.blank("en").make_doc("graph")
    assert empty.rows([doc]).tolist() == [-1]
    one = numpy.array([1])
    assert empty.similarities([doc], one - 1, one).tolist() == [0]


def test_round_trip(table, tmp_path):
    path = tmp_path / "xx.vectors.npz"
    numpy.savez(path, keys=table.keys, vectors=table.vectors, weights=table.weights)
    doc = spacy.blank("en").make_doc("the graph network")
    assert read_vectors(path).rows([doc]).tolist() == table.rows([doc]).tolist()


def test_what_is_no_table(tmp_path, table):
    path = tmp_path / "bad.npz"
    path.write_bytes(b"no zip")
    with pytest.raises(ValueError, match="is not a table of word vectors"):
        read_vectors(path)
    numpy.savez(path, keys=table.keys)
    with pytest.raises(ValueError, match="is not a table of word vectors"):
        read_vectors(path)
    numpy.savez(path, keys=table.keys, vectors=table.vectors, weights=[1.0])
    with pytest.raises(ValueError, match="is damaged"):
        read_vectors(path)


def test_most_languages_have_none():
    assert get_vectors("de") is None
