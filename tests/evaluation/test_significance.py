"""Confidence intervals and paired tests on data with a known answer."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_keyphrase.evaluation import PRESETS, compare, confidence_interval, score

AVERAGES = ("macro_f1", "macro_pr", "micro")


def corpus(n_docs, right, seed):
    """Predictions of which each is right with a given probability."""
    rng = np.random.default_rng(seed)
    gold = [[f"g{i}" for i in range(rng.integers(2, 8))] for _ in range(n_docs)]
    preds = [
        [p if rng.random() < right else f"x {p}" for p in phrases] for phrases in gold
    ]
    return preds, gold


def scores(preds, gold, average="macro_f1", k=(5, "M")):
    return score(
        preds, gold, preset=replace(PRESETS["default"], average=average), k=list(k)
    )


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", ["all_f1@5", "all_p@5", "all_r@M", "all_map"])
def test_interval_holds_the_value_and_narrows(average, name):
    small = confidence_interval(scores(*corpus(30, 0.5, 0), average), name)
    large = confidence_interval(scores(*corpus(600, 0.5, 1), average), name)
    for interval in (small, large):
        assert interval.low < interval.value < interval.high
    assert large.high - large.low < (small.high - small.low) / 2
    wide = confidence_interval(scores(*corpus(30, 0.5, 0), average), name, level=0.99)
    assert wide.low <= small.low and wide.high >= small.high


def test_interval_of_a_mean_is_the_normal_one():
    system = scores(*corpus(400, 0.5, 3))
    interval = confidence_interval(system, "all_f1@M", n_resamples=5000)
    error = system.per_document["all_f1@M"].std(ddof=1) / 20
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_coverage():
    """About 95 of 100 intervals hold the true value."""
    held = 0
    for seed in range(100):
        system = scores(*corpus(80, 0.5, seed), "micro", k=["M"])
        interval = confidence_interval(system, "all_p@M", n_resamples=300)
        held += interval.low <= 0.5 <= interval.high
    assert 88 <= held <= 100


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
@pytest.mark.parametrize("average", AVERAGES)
def test_a_difference_is_found(test, average):
    preds, gold = corpus(300, 0.4, 5)
    better, _ = corpus(300, 0.6, 5)
    a, b = scores(preds, gold, average), scores(better, gold, average)
    result = compare(a, b, "all_f1@5", test=test)
    assert result.p_value < 0.01
    assert 0 < result.low < result.difference < result.high
    assert result.difference == pytest.approx(b["all_f1@5"] - a["all_f1@5"])
    back = compare(b, a, "all_f1@5", test=test)
    assert back.difference == pytest.approx(-result.difference)
    assert back.p_value < 0.01


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
@pytest.mark.parametrize("average", AVERAGES)
def test_the_same_system_does_not_differ(test, average):
    a = scores(*corpus(50, 0.5, 6), average)
    result = compare(a, a, "all_f1@5", test=test)
    assert (result.difference, result.low, result.high) == (0, 0, 0)
    assert result.p_value == 1


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_false_alarms_are_as_rare_as_promised(test):
    """Two equally good systems: p is below .1 in about a tenth of the trials."""
    p_values = []
    for seed in range(200):
        preds, gold = corpus(60, 0.5, seed)
        rng = np.random.default_rng(seed + 1000)
        other = [[p if rng.random() < 0.5 else f"x {p}" for p in doc] for doc in gold]
        pair = scores(preds, gold, k=["M"]), scores(other, gold, k=["M"])
        result = compare(*pair, "all_f1@M", test=test, n_resamples=200)
        p_values.append(result.p_value)
    assert 0.04 < np.mean(np.array(p_values) < 0.1) < 0.17


def test_exact_permutation_p_value():
    """Two documents, both better: of the four swaps two are as extreme."""
    gold = [["a"], ["b"]]
    a, b = score([["x"], ["x"]], gold), score(gold, gold)
    result = compare(a, b, "all_f1@M", n_resamples=4000)
    assert result.difference == 1
    assert result.p_value == pytest.approx(0.5, abs=0.03)


def test_a_seed_decides():
    a, b = scores(*corpus(40, 0.5, 1)), scores(*corpus(40, 0.5, 1))
    other = scores(corpus(40, 0.6, 1)[0], corpus(40, 0.5, 1)[1])
    first = confidence_interval(a, "all_f1@5", seed=3)
    assert first == confidence_interval(b, "all_f1@5", seed=3)
    assert first != confidence_interval(a, "all_f1@5", seed=4)
    assert compare(a, other, "all_f1@5") == compare(b, other, "all_f1@5")


def test_documents_without_gold_of_a_kind():
    preds, gold = corpus(40, 0.5, 1)
    sources = [" ".join(phrases[: i % 3]) for i, phrases in enumerate(gold)]
    system = score(preds, gold, sources)
    interval = confidence_interval(system, "present_f1@5")
    assert interval.low < interval.value < interval.high
    assert compare(system, system, "absent_f1@5").p_value == 1


def test_what_cannot_be_compared():
    preds, gold = corpus(10, 0.5, 1)
    a = scores(preds, gold)
    with pytest.raises(ValueError, match="two conventions"):
        compare(a, scores(preds, gold, "micro"), "all_f1@5")
    with pytest.raises(ValueError, match="same documents"):
        compare(a, scores(preds[:5], gold[:5]), "all_f1@5")
    with pytest.raises(ValueError, match="same documents"):
        compare(a, scores(preds, [[*g, "more"] for g in gold]), "all_f1@5")
    with pytest.raises(ValueError, match="undefined"):
        confidence_interval(a, "present_f1@5")
    with pytest.raises(KeyError, match="no score 'all_f1@7'"):
        compare(a, a, "all_f1@7")
    with pytest.raises(ValueError, match="level"):
        confidence_interval(a, "all_f1@5", level=95)
    with pytest.raises(ValueError, match="n_resamples"):
        confidence_interval(a, "all_f1@5", n_resamples=0)
    with pytest.raises(ValueError, match="'permutation' or 'bootstrap'"):
        compare(a, a, "all_f1@5", test="t")
