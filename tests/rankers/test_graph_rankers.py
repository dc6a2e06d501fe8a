"""The graph rankers on docs small enough to follow by hand."""

import warnings

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_keyphrase.candidates import collect_candidates, make_noun_phrases
from spacy_keyphrase.rankers import (
    make_multipartiterank,
    make_positionrank,
    make_singlerank,
    make_textrank,
    make_topicrank,
)
from spacy_keyphrase.rankers.topics import _closeness, _topics

VOCAB = spacy.blank("en").vocab
ALL = [
    make_textrank,
    make_singlerank,
    make_positionrank,
    make_topicrank,
    make_multipartiterank,
]


def tagged(text: str) -> Doc:
    """A doc from "word/TAG" pairs."""
    pairs = [pair.rsplit("/", 1) for pair in text.split()]
    return Doc(VOCAB, words=[w for w, _ in pairs], tags=[t for _, t in pairs])


def ranked(ranker, doc):
    candidates = collect_candidates(doc, make_noun_phrases()(doc))
    (scores,) = ranker([doc], [candidates])
    return {c.form: s for c, s in zip(candidates, scores.phrases)}


def test_a_phrase_scores_the_sum_of_its_words():
    """One link, graph - network: both words have half the rank each."""
    doc = tagged("graph/NN network/NN and/CC then/RB a/DT network/NN")
    scores = ranked(make_singlerank(window=2), doc)
    assert scores == pytest.approx({"graph network": 1.0, "network": 0.5})


def test_single_rank_counts_what_text_rank_does_not():
    """a-b twice and b-c once: weights set a above c; without them they tie."""
    doc = tagged(
        "alpha/NN is/VB ./. alpha/NN beta/NN is/VB ./. beta/NN alpha/NN is/VB ./. "
        "beta/NN gamma/NN is/VB ./. gamma/NN is/VB"
    )
    single = ranked(make_singlerank(window=2), doc)
    text = ranked(make_textrank(window=2), doc)
    assert single["alpha"] > single["gamma"]
    assert text["alpha"] == pytest.approx(text["gamma"])


def test_position_rank_prefers_the_beginning():
    doc = tagged("early/NN is/VB near/IN it/PRP is/VB late/NN")
    assert ranked(make_singlerank(), doc)["earli"] == pytest.approx(1.0)
    scores = ranked(make_positionrank(), doc)
    assert scores["earli"] == 1.0
    assert scores["late"] < 1.0


def test_topics_are_merged_by_shared_stems():
    doc = tagged(
        "neural/JJ network/NN is/VB a/DT deep/JJ network/NN in/IN a/DT house/NN"
    )
    candidates = collect_candidates(doc, make_noun_phrases()(doc))
    assert [c.form for c in candidates] == ["neural network", "deep network", "hous"]
    # One stem of three is shared: Jaccard 1/3.
    assert _topics(candidates, 0.26).tolist() == [0, 0, 1]
    assert _topics(candidates, 0.34).tolist() == [0, 1, 2]


def test_average_linkage():
    """ab-abc .67, abc-bcd .5, ab-bcd .25: with .67 merged, bcd is .375 from both."""
    doc = tagged("aa/NN bb/NN ./. aa/NN bb/NN cc/NN ./. bb/NN cc/NN dd/NN ./.")
    candidates = collect_candidates(doc, make_noun_phrases()(doc))
    assert _topics(candidates, 0.4).tolist() == [0, 0, 1]
    assert _topics(candidates, 0.37).tolist() == [0, 0, 0]


def test_closeness_is_the_inverse_of_the_words_between():
    """From the end of "a b" (words 0-1) to "c" (word 3): one gap of 2."""
    doc = tagged("aa/NN bb/NN is/VB cc/NN is/VB is/VB cc/NN")
    candidates = collect_candidates(doc, make_noun_phrases()(doc))
    closeness = _closeness(candidates, list(range(len(doc) + 1)))
    # Gaps from word 1 to words 3 and 6.
    assert closeness[0, 1] == pytest.approx(1 / 2 + 1 / 5)
    assert np.array_equal(closeness, closeness.T)


def test_topic_rank_scores_the_first_of_a_topic():
    doc = tagged(
        "neural/JJ network/NN is/VB a/DT deep/JJ network/NN in/IN a/DT house/NN"
    )
    scores = ranked(make_topicrank(), doc)
    assert scores["deep network"] == 0.0
    assert max(scores.values()) == 1.0 and scores["neural network"] > 0


def test_multipartite_rank_lifts_the_first_of_a_topic():
    doc = tagged(
        "neural/JJ network/NN is/VB house/NN is/VB deep/JJ network/NN is/VB house/NN"
    )
    plain = ranked(make_multipartiterank(alpha=0.0), doc)
    lifted = ranked(make_multipartiterank(), doc)
    assert lifted["neural network"] > plain["neural network"]
    assert lifted["deep network"] > 0


@pytest.mark.parametrize("make", ALL)
def test_scores_are_between_0_and_1_and_empty_docs_are_fine(make):
    empty = Doc(VOCAB)
    one = tagged("network/NN")
    none = tagged("of/IN the/DT")
    for doc, n in ((empty, 0), (one, 1), (none, 0)):
        scores = ranked(make(), doc)
        assert len(scores) == n
        assert all(0 <= score <= 1 for score in scores.values())


@pytest.mark.parametrize("make", ALL)
def test_a_batch_is_ranked_as_its_docs_alone(make):
    docs = [
        tagged("neural/JJ network/NN is/VB a/DT deep/JJ house/NN"),
        tagged("house/NN price/NN of/IN a/DT network/NN and/CC a/DT house/NN"),
    ]
    candidates = [collect_candidates(d, make_noun_phrases()(d)) for d in docs]
    together = make()(docs, candidates)
    alone = [make()([d], [c])[0] for d, c in zip(docs, candidates)]
    assert [s.phrases for s in together] == [s.phrases for s in alone]


@pytest.mark.parametrize("make", [make_topicrank, make_multipartiterank])
def test_a_limit_that_applies_is_said(make):
    doc = tagged("house/NN of/IN cards/NN of/IN glass/NN of/IN house/NN")
    with pytest.warns(UserWarning, match="3 candidates; the 2 most frequent"):
        scores = ranked(make(max_candidates=2), doc)
    assert scores["glass"] == 0.0 and scores["hous"] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranked(make(max_candidates=3), doc)


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (make_singlerank, {"window": 1}, "window must be at least 2, not 1"),
        (make_textrank, {"damping": 1.0}, "damping must be between 0 and 1"),
        (make_topicrank, {"similarity": 0.0}, "similarity must be above 0"),
        (make_topicrank, {"max_candidates": 0}, "max_candidates must be at least 1"),
    ],
)
def test_wrong_settings(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)
