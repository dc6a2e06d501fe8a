"""Words and numbers, and words that are copied."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_keyphrase.generation.vocabulary import (
    MOST_EXTRA,
    SPECIAL,
    Vocabulary,
    read_document,
    read_phrase,
)


def test_the_public_code(fixtures_dir):
    """Words outside the vocabulary are numbered behind it, as they come."""
    recorded = json.loads((fixtures_dir / "settrans.json").read_text("utf8"))
    vocabulary = Vocabulary(recorded["vocab"][len(SPECIAL) :])
    assert vocabulary.words == recorded["vocab"]
    batch = recorded["batch"]
    for doc, tokens in enumerate(recorded["documents"]):
        found = vocabulary.number(tokens)
        n = len(tokens)
        assert found.ids == batch["src"][doc][:n]
        assert found.extended == batch["src_oov"][doc][:n]
        assert found.extra == batch["oov_lists"][doc]
        present = recorded["targets"][doc][0]
        assert vocabulary.number_phrase(present, found.extra) == [
            word for word in batch["trg_copy"][doc][0] if word not in (0, 3)
        ]


def test_most_frequent_words():
    texts = [["graph", "networks"], ["graph", "of", "<pad>", "2"], ["2", "a", "of"]]
    vocabulary = Vocabulary.of_texts(texts, size=len(SPECIAL) + 4)
    assert vocabulary.words[len(SPECIAL) :] == ["2", "graph", "of", "a"]
    assert Vocabulary.of_texts(texts, size=3).words == list(SPECIAL)
    found = vocabulary.number(["a", "zorbax", "graph", "zorbax", "quixel"])
    assert found.ids == [10, 1, 8, 1, 1]
    assert found.extended == [10, 11, 8, 11, 12]
    assert found.extra == ["zorbax", "quixel"]
    # A word that neither has is unknown.
    assert vocabulary.number_phrase(["quixel", "sets"], found.extra) == [12, 1]


def test_a_text_cannot_end_a_phrase():
    """What looks like a special word is one more that the vocabulary lacks."""
    vocabulary = Vocabulary(["a"])
    found = vocabulary.number(["a", "<eos>", "<pad>"])
    assert found.ids == [7, 1, 1] and found.extended == [7, 8, 9]
    assert vocabulary.number_phrase(["<eos>"], found.extra) == [8]


def test_extra_words_are_bounded():
    found = Vocabulary([]).number([f"w{i}" for i in range(MOST_EXTRA + 5)])
    assert len(found.extra) == MOST_EXTRA
    assert found.extended[-5:] == [1] * 5


@given(st.lists(st.sampled_from("abcdefgh"), max_size=20))
def test_there_and_back(tokens):
    vocabulary = Vocabulary(["a", "b", "c"])
    found = vocabulary.number(tokens)
    assert vocabulary.texts(found.extended, found.extra) == tokens
    assert vocabulary.number_phrase(tokens, found.extra) == found.extended


@pytest.mark.parametrize("words", [["a", "a"], ["<pad>"]])
def test_a_word_twice(words):
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(words)


def test_words_of_texts():
    """Hyphens and other marks are left out, those that part sentences are not."""
    text = "State-of-the-art (2D) models: O'Neil's, in 3.5 ms.\n"
    assert " ".join(read_document(text)) == (
        "state of the art ( 2d ) models o ' neil ' s , in 3 . 5 ms ."
    )
    assert read_phrase("State-of-the-Art") == ["state", "of", "the", "art"]
    assert read_document(" \n") == read_phrase("?!") == []
