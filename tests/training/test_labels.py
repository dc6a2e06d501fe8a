"""Labels of which some are missing: PUSL's worked examples."""

import pytest

from spacy_keyphrase.corpora import KeyphraseDocument
from spacy_keyphrase.training.labels import (
    extend_labels,
    group_texts,
    join_labels,
    split_by_labels,
    variation,
)


def test_rejection():
    """Worked example T3: more than three on average are kept."""
    assert extend_labels(["a", "b"], ["b", "c"], 3) is None
    assert extend_labels(["a", "b"], ["c", "c", "d"], 3) == ["a", "b", "c", "d"]
    assert extend_labels(["a"], ["b", "c"], 3) is None


def test_labels_are_equal_by_their_stems():
    labels = join_labels(["Neural networks", "graphs"], ["neural network", "", "graph"])
    assert labels == ["Neural networks", "graphs"]


def test_variation():
    """Worked example T5: deviation over mean, and not the other way round."""
    assert variation([1, 2, 3, 9]) == pytest.approx(0.83, abs=1e-4)
    assert variation([2, 2]) == variation([]) == variation([0, 0]) == 0


def document(text, *labels):
    return KeyphraseDocument(id=text, text=text, keyphrases=list(labels))


def test_documents_of_one_text():
    found = group_texts(
        [document("x", "a"), document("y", "b"), document("x", "c", "A")]
    )
    assert [(d.text, d.keyphrases) for d in found] == [("x", ["a", "c"]), ("y", ["b"])]


def test_narrow_and_diverse():
    """Up to twice the mean of the data set, whatever that of the test set, and
    more."""
    documents = [
        document("1", "a"),
        document("2", "a", "b"),
        document("3", "a", "b", "c"),
        document("9", *"abcdefghi"),
    ]
    narrow, diverse = split_by_labels(documents, 1.4)
    assert [d.text for d in narrow] == ["1", "2"]
    assert [d.text for d in diverse] == ["3", "9"]
    assert split_by_labels([], 1.4) == ([], [])
