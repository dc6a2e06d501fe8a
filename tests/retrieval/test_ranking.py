"""Ranking and expansion by keyphrases: by hand, and what always holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_keyphrase.retrieval import RankSettings, feedback_phrases, rank

PHRASES = [
    [("weather", 1.0)],
    [("dense retrieval", 0.9), ("passages", 0.3)],
    [],
]


def order(*args, **kwargs):
    return [number for number, _ in rank(*args, **kwargs)]


def test_match():
    only = RankSettings(match=1.0, feedback=0.0)
    assert order("How does retrieval work?", [1, 1, 1], PHRASES, only) == [1, 0, 2]
    # A weak match does not outweigh the retriever, with a small weight.
    weak = RankSettings(match=0.01, feedback=0.0)
    assert order("passages", [3.0, 2.0, 1.0], PHRASES, weak) == [0, 1, 2]
    assert order("the of", [3.0, 2.0, 1.0], PHRASES, only) == [0, 1, 2]


def test_match_by_hand():
    """Two of three documents alike in all but one word of the query."""
    phrases = [[("zebra", 1.0)], [("zebra", 1.0), ("yak", 0.5)]]
    settings = RankSettings(match=1.0, feedback=0.0)
    ranked = rank("zebra yak", [0.0, 0.0], phrases, settings)
    # In standard deviations two different numbers are 1 and -1.
    assert [(number, score) for number, score in ranked] == [(1, 1.0), (0, -1.0)]


def test_feedback():
    """The third shares a keyphrase with the first, the second does not."""
    phrases = [[("neural network", 1.0)], [("bank", 1.0)], [("neural networks", 1.0)]]
    settings = RankSettings(match=0.0, feedback=2.0, feedback_documents=1)
    assert order("deep learning", [3.0, 1.1, 1.0], phrases, settings) == [0, 2, 1]
    off = RankSettings(match=0.0, feedback=0.0)
    assert order("deep learning", [3.0, 1.1, 1.0], phrases, off) == [0, 1, 2]


def test_keyphrases_without_scores_count_by_their_order():
    phrases = [[("apple", 0.0), ("pear", 0.0)], [("pear", 0.0), ("apple", 0.0)]]
    settings = RankSettings(match=1.0, feedback=0.0)
    assert order("pear", [1.0, 1.0], phrases, settings) == [1, 0]


def test_what_cannot_be_ranked():
    settings = RankSettings()
    assert rank("query", [], [], settings) == []
    assert order("query", [1.0], [[]], settings) == [0]
    with pytest.raises(ValueError, match="2 scores of 1"):
        rank("query", [1.0, 2.0], [[]], settings)
    with pytest.raises(ValueError, match="must be numbers"):
        rank("query", [float("nan")], [[]], settings)
    with pytest.raises(ValueError, match="match is -1"):
        RankSettings(match=-1)


WORDS = st.sampled_from(["graph", "graphs", "neural network", "the", "", "\U0001f600"])
LISTS = st.lists(st.tuples(WORDS, st.floats(0, 1)), max_size=4)


@given(st.lists(st.tuples(st.floats(-5, 5), LISTS), max_size=8), WORDS)
def test_any_documents(documents, query):
    """All come back, once, the scores falling."""
    scores = [score for score, _ in documents]
    phrases = [sorted(own, key=lambda pair: -pair[1]) for _, own in documents]
    ranked = rank(query, scores, phrases, RankSettings())
    assert sorted(found.number for found in ranked) == list(range(len(documents)))
    values = [found.score for found in ranked]
    assert values == sorted(values, reverse=True)
    added = feedback_phrases(query, scores, phrases, 3)
    assert len(added) <= 3


def test_feedback_phrases():
    phrases = [
        [("dual encoders", 0.9), ("retrieval", 0.8)],
        [("Dual encoder", 0.5), ("the bank", 0.4)],
        [("zebra", 0.1)],
    ]
    found = feedback_phrases("What is retrieval?", [3.0, 2.0, -9.0], phrases, 5)
    # Once, as it stands first; not what the query has; what counts least is last.
    assert found == ["dual encoders", "the bank", "zebra"]
    assert feedback_phrases("What?", [], [], 5) == []
    assert feedback_phrases("What?", [1.0], [[]], 5) == []
