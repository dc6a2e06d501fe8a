"""How many keyphrases are kept, and which of those that are alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_keyphrase.selection import Selection, select

FORMS = ["neural network", "network", "deep neural network", "graph", "graph theori"]
SCORES = [0.9, 0.8, 0.7, 0.6, 0.5]


def chosen(forms=FORMS, scores=SCORES, **settings):
    return [forms[i] for i, _ in select(forms, scores, Selection(**settings))]


WORDS = st.sampled_from("graph node edg tree deep neural network".split())
RANKED = st.lists(
    st.tuples(
        st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
        st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=25,
    unique_by=lambda pair: pair[0],
)


def test_best_first():
    forms, scores = ["a", "b", "c"], [0.25, 0.75, 0.5]
    assert select(forms, scores, Selection()) == [(1, 0.75), (2, 0.5), (0, 0.25)]


def test_nothing_comes_of_nothing():
    for settings in ({}, {"diversity": 0.5}, {"subphrases": "drop", "top_n": 0}):
        assert select([], [], Selection(**settings)) == []


def test_equal_scores_keep_their_order():
    forms = ["d", "a", "c", "b"]
    assert chosen(forms, [0.5, 0.5, 0.75, 0.5]) == ["c", "d", "a", "b"]
    assert chosen(forms, [0.5] * 4, diversity=0.3) == forms


@pytest.mark.parametrize("diversity", [0.0, 0.4])
def test_top_n(diversity):
    forms = [f"w{i}" for i in range(30)]
    scores = [1 - i / 30 for i in range(30)]
    assert chosen(forms, scores, diversity=diversity) == forms[:10]
    assert chosen(forms, scores, top_n=3, diversity=diversity) == forms[:3]
    assert chosen(forms, scores, top_n=0, diversity=diversity) == forms
    assert chosen(forms, scores, top_n=99, diversity=diversity) == forms


def test_min_score_is_the_lowest_that_stays():
    assert chosen(min_score=0.7) == FORMS[:3]
    assert chosen(min_score=0.71, top_n=0) == FORMS[:2]
    assert chosen(min_score=1.0) == []
    assert chosen(min_score=-1.0) == FORMS
    # It is a limit of the ranker's scores, not of the values of the selection.
    assert set(chosen(min_score=0.7, diversity=0.9)) == set(FORMS[:3])


def test_subphrases_are_dropped_both_ways():
    """Neither a part of a better phrase stays, nor what holds a better one."""
    assert chosen(subphrases="keep") == FORMS
    assert chosen(subphrases="drop") == ["neural network", "graph"]
    assert chosen(subphrases="drop", top_n=2) == ["neural network", "graph"]
    assert chosen(subphrases="drop", diversity=0.5) == ["neural network", "graph"]


def test_a_subphrase_is_made_of_whole_words():
    forms = ["graph", "graphem", "paragraph", "a graph b", "b graph"]
    scores = [0.9, 0.8, 0.7, 0.6, 0.5]
    assert chosen(forms, scores, subphrases="drop") == forms[:3]
    # Words in another order, or not side by side, are no part.
    forms = ["b a", "a b", "a x b"]
    assert chosen(forms, scores[:3], subphrases="drop") == forms


def test_what_was_dropped_drops_nothing():
    forms = ["a b", "b c", "a b c", "c d"]
    kept = chosen(forms, [0.9, 0.8, 0.7, 0.6], subphrases="drop")
    assert kept == ["a b", "b c", "c d"]


def test_near_duplicates_are_dropped():
    forms = ["color imag", "colour imag", "graph"]
    scores = [0.9, 0.8, 0.7]
    assert chosen(forms, scores) == forms
    assert chosen(forms, scores, max_similarity=0.7) == ["color imag", "graph"]
    assert chosen(forms, scores, max_similarity=0.7, top_n=2) == ["color imag", "graph"]
    # Nothing is alike enough for a limit of 1, everything that shares a trigram
    # for one of 0.
    assert chosen(FORMS, max_similarity=1.0) == FORMS
    assert chosen(FORMS, max_similarity=0.0) == ["neural network", "graph"]


def test_similarity_is_the_dice_coefficient_of_trigrams():
    # "  ab " and "  ac ": {"  a", " ab", "ab "} and {"  a", " ac", "ac "}: 2/6.
    forms, scores = ["ab", "ac"], [0.5, 0.25]
    assert chosen(forms, scores, max_similarity=0.34) == forms
    assert chosen(forms, scores, max_similarity=0.33) == ["ab"]


def test_diversity_of_a_worked_example():
    """Relevance (s - 0.5) / 0.5, similarity the Dice coefficient over stems."""
    forms = ["neural network", "network", "graph"]
    picks = select(forms, [1.0, 0.75, 0.5], Selection(diversity=0.5))
    assert [forms[i] for i, _ in picks] == ["neural network", "graph", "network"]
    values = [value for _, value in picks]
    # First 0.5 * 1 + 0.5 * 1; then the graph, 0.5 * 0 + 0.5 * 1, before the
    # network, 0.5 * 0.5 + 0.5 * (1 - 2/3).
    assert values == pytest.approx([1.0, 0.5, 0.25 + 1 / 6])


def test_full_diversity_looks_at_nothing_else():
    forms = ["a b", "a", "b", "c"]
    kept = chosen(forms, [0.9, 0.8, 0.7, 0.1], diversity=1.0)
    assert kept[:2] == ["a b", "c"]


@given(RANKED)
def test_no_diversity_is_the_plain_ranking(ranked):
    forms, scores = [f for f, _ in ranked], [s for _, s in ranked]
    picks = select(forms, scores, Selection(top_n=0))
    assert [i for i, _ in picks] == sorted(
        range(len(forms)), key=lambda i: (-scores[i], i)
    )
    assert all(scores[i] == score for i, score in picks)


@given(RANKED, st.floats(0, 1), st.integers(0, 8), st.booleans())
def test_values_never_rise(ranked, diversity, top_n, drop):
    forms, scores = [f for f, _ in ranked], [s for _, s in ranked]
    selection = Selection(
        top_n=top_n, diversity=diversity, subphrases="drop" if drop else "keep"
    )
    picks = select(forms, scores, selection)
    values = [value for _, value in picks]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)
    indices = [i for i, _ in picks]
    assert len(set(indices)) == len(indices) <= (top_n or len(forms))
    # Whatever the diversity, the best comes first.
    assert not forms or scores[indices[0]] == max(scores)


@given(RANKED, st.floats(0, 1), st.sampled_from([0.0, 0.3]))
def test_no_two_kept_are_too_alike(ranked, limit, diversity):
    forms, scores = [f for f, _ in ranked], [s for _, s in ranked]

    def alike(a, b):
        grams = [{f"  {x} "[i : i + 3] for i in range(len(x) + 1)} for x in (a, b)]
        return 2 * len(grams[0] & grams[1]) / (len(grams[0]) + len(grams[1]))

    kept = chosen(forms, scores, top_n=0, max_similarity=limit, diversity=diversity)
    assert bool(kept) == bool(forms)
    pairs = [(a, b) for a in kept for b in kept if a < b]
    assert limit == 1 or all(alike(a, b) <= limit for a, b in pairs)


@given(RANKED)
def test_no_kept_phrase_holds_another(ranked):
    forms, scores = [f for f, _ in ranked], [s for _, s in ranked]
    kept = chosen(forms, scores, top_n=0, subphrases="drop")
    padded = [f" {form} " for form in kept]
    assert not [(a, b) for a in padded for b in padded if a != b and a in b]
    # And whatever was dropped is a part of, or holds, one that was kept.
    for form in set(forms) - set(kept):
        assert [
            other for other in padded if f" {form} " in other or other in f" {form} "
        ]


@pytest.mark.parametrize(
    "name,value,allowed",
    [
        ("top_n", -1, "0 (all) or more"),
        ("max_similarity", 1.5, "between 0 and 1"),
        ("max_similarity", -0.1, "between 0 and 1"),
        ("diversity", 2, "between 0 and 1"),
        ("diversity", float("nan"), "between 0 and 1"),
        ("subphrases", "some", "'keep' or 'drop'"),
    ],
)
def test_bad_values_name_the_allowed(name, value, allowed):
    with pytest.raises(ValueError) as error:
        Selection(**{name: value})
    assert name in str(error.value)
    assert str(value) in str(error.value)
    assert allowed in str(error.value)
