"""How sure a score or a difference is: resampling over documents.

The bootstrap of Efron and Tibshirani (1993) with percentile intervals, and the
paired tests of Berg-Kirkpatrick et al. (2012) and Noreen (1989). Every average
is recomputed from the resampled documents, also F1 of macro P and R, and micro.
"""

from dataclasses import dataclass
from typing import Iterator, Literal, Tuple

import numpy as np

from .aggregate import Statistic, statistic
from .metrics import Floats
from .score import Scores

Test = Literal["permutation", "bootstrap"]

# Resampled weights held at once: what fits the cache is ten times as fast.
_CHUNK = 100_000


@dataclass(frozen=True)
class Interval:
    """A score and its confidence interval.

    name (str): Name of the score.
    value (float): The score.
    low (float): Lower end of the interval.
    high (float): Upper end of the interval.
    level (float): Its confidence level.
    """

    name: str
    value: float
    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Comparison:
    """The difference between two systems on the same documents.

    name (str): Name of the score.
    a (float): Score of the first system.
    b (float): Score of the second system.
    difference (float): b - a.
    low (float): Lower end of its confidence interval (paired bootstrap).
    high (float): Upper end of its confidence interval.
    level (float): Confidence level of the interval.
    p_value (float): Two-sided, of the hypothesis that the systems are the same.
    test (str): Where the p-value is from: "permutation" or "bootstrap".
    """

    name: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    level: float
    p_value: float
    test: Test


def confidence_interval(
    scores: Scores,
    name: str,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """A bootstrap confidence interval of a corpus score, over documents.

    scores (Scores): The scores of a system.
    name (str): Such as "all_f1@10".
    level (float): Confidence level, between 0 and 1.
    n_resamples (int): Number of bootstrap samples.
    seed (int): The same seed gives the same interval.
    RETURNS (Interval): The score with the percentile interval.
    """
    stat = _statistic(scores, name)
    samples = np.concatenate(
        [
            stat.value(stat.columns @ weights)
            for weights in _weights(scores.n_docs, n_resamples, seed)
        ]
    )
    low, high = _interval(samples, level)
    return Interval(name, stat.corpus_value(), low, high, level)


def compare(
    a: Scores,
    b: Scores,
    name: str,
    *,
    test: Test = "permutation",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Test whether two systems differ on the same documents.

    a (Scores): Scores of the first system.
    b (Scores): Scores of the second system: same documents, same preset.
    name (str): Such as "all_f1@10".
    test (str): "permutation" swaps the systems at random in each document;
        "bootstrap" resamples documents and centres the difference at 0.
    level (float): Confidence level of the interval of the difference.
    n_resamples (int): Number of resamples.
    seed (int): The same seed gives the same result.
    RETURNS (Comparison): The difference b - a, its interval and p-value.
    """
    if test not in ("permutation", "bootstrap"):
        raise ValueError(f"test is 'permutation' or 'bootstrap', not {test!r}.")
    _check_paired(a, b)
    first, second = _statistic(a, name), _statistic(b, name)
    difference = second.corpus_value() - first.corpus_value()
    resampled = np.concatenate(
        [
            second.value(second.columns @ weights)
            - first.value(first.columns @ weights)
            for weights in _weights(a.n_docs, n_resamples, seed)
        ]
    )
    low, high = _interval(resampled, level)
    if test == "bootstrap":
        null = resampled - difference
    else:
        null = _permuted(first, second, n_resamples, seed)
    null = null[~np.isnan(null)]
    # The tolerance keeps ties ties; the observed order is one of the samples.
    extreme = np.abs(null) >= abs(difference) - 1e-12
    p_value = (1 + int(extreme.sum())) / (1 + len(null))
    return Comparison(
        name,
        first.corpus_value(),
        second.corpus_value(),
        difference,
        low,
        high,
        level,
        p_value,
        test,
    )


def _statistic(scores: Scores, name: str) -> Statistic:
    if scores[name] is None:
        raise ValueError(
            f"The score {name!r} is undefined: no document counts for it. Were "
            "sources given, and is there gold of this kind?"
        )
    return statistic(scores.per_document, name, scores.average)


def _check_paired(a: Scores, b: Scores) -> None:
    if a.preset != b.preset:
        raise ValueError(
            f"These scores follow two conventions, {a.preset} and {b.preset}: score "
            "both systems with one preset."
        )
    same = a.n_docs == b.n_docs and np.array_equal(
        a.per_document["all_gold"], b.per_document["all_gold"]
    )
    if not same:
        raise ValueError(
            "A paired test needs scores of the same documents in the same order; "
            f"these are of {a.n_docs} and {b.n_docs} documents, or their gold "
            "keyphrases differ."
        )


def _weights(n_docs: int, n_resamples: int, seed: int) -> Iterator[Floats]:
    """How often each document is drawn, shape (n_docs, resamples), in chunks."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples is 1 or more, not {n_resamples}.")
    rng = np.random.default_rng(seed)
    size = max(1, _CHUNK // n_docs)
    for start in range(0, n_resamples, size):
        n = min(size, n_resamples - start)
        drawn = rng.integers(n_docs, size=(n, n_docs))
        drawn += np.arange(n)[:, None] * n_docs
        counts = np.bincount(drawn.ravel(), minlength=n * n_docs)
        yield counts.reshape(n, n_docs).T.astype(float)


def _permuted(
    first: Statistic, second: Statistic, n_resamples: int, seed: int
) -> Floats:
    """Differences when the systems are swapped at random in each document."""
    rng = np.random.default_rng(seed)
    n_docs = first.columns.shape[1]
    change = second.columns - first.columns
    totals = first.columns.sum(axis=1), second.columns.sum(axis=1)
    size = max(1, _CHUNK // n_docs)
    samples = []
    for start in range(0, n_resamples, size):
        n = min(size, n_resamples - start)
        moved = change @ rng.integers(2, size=(n_docs, n)).astype(float)
        a, b = totals[0][:, None] + moved, totals[1][:, None] - moved
        samples.append(second.value(b) - first.value(a))
    return np.concatenate(samples)


def _interval(samples: Floats, level: float) -> Tuple[float, float]:
    if not 0 < level < 1:
        raise ValueError(f"level is between 0 and 1, not {level}.")
    tail = (1 - level) / 2
    low, high = np.nanquantile(samples, [tail, 1 - tail])
    return float(low), float(high)
