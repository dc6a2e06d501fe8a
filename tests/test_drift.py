"""Topic drift and recall by similarity, by hand."""

import numpy
import pytest

from spacy_keyphrase.evaluation import recall_by_similarity, topic_drift

VECTORS = {
    "a": [1.0, 0.0],
    "b": [0.0, 1.0],
    "c": [0.6, 0.8],
    "a a": [2.0, 0.0],
    "b b": [0.0, 3.0],
}


def embed(texts):
    return numpy.array([VECTORS[text] for text in texts])


def test_topic_drift():
    documents = [["a", "a", "b", "b"], ["a", "a", "a", "a"], ["a", "a", "c"], ["a"], []]
    # Parts of two sentences: at right angles, the same, with a cosine of .6.
    expected = [1.0, 0.0, 0.4]
    *found, alone, empty = topic_drift(documents, embed, size=2)
    assert found == pytest.approx(expected)
    assert alone is None
    assert empty is None


def test_three_parts():
    """The mean over all pairs: cosines 0, .6 and .8."""
    (found,) = topic_drift([["a", "b", "c"]], embed, size=1)
    assert found == pytest.approx(1 - (0 + 0.6 + 0.8) / 3)


def test_recall_by_similarity():
    rows = recall_by_similarity(
        [["a", "x"], ["b"]], [["a", "b"], ["c"]], ["a", "a"], embed, k=1, bounds=[0.5]
    )
    # "b" (cosine 0) is missed; of "a" (1) and "c" (.6) the first is found.
    assert rows == [(-1.0, 0.5, 1, 0.0), (0.5, 1.0, 2, 0.5)]


def test_bad_input():
    with pytest.raises(ValueError, match="size must be 1"):
        topic_drift([], embed, size=0)
    with pytest.raises(ValueError, match="ascend"):
        recall_by_similarity([], [], [], embed, bounds=[0.5, 0.1])
