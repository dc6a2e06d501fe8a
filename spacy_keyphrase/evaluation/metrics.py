"""Per-document metrics, of all documents at once.

The names follow the literature. With h the right ones among the first k of n
predictions, and g gold keyphrases: P@k = h / k (hard) or h / min(k, n) (soft),
R@k = h / g, F1 their harmonic mean. k can be a number, "M" (all predictions),
"O" (as many as there is gold; Yuan et al. 2020) or "G" (the larger of the two;
Chan et al. 2019). 0/0 is 0 here: what is undefined is decided by the caller.
"""

from typing import List, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from .presets import Denominator, Ideal

K = Union[int, str]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def parse_k(k: K) -> K:
    """Check a cutoff.

    k (K): A number of 1 or more (also as a string), "M", "O" or "G".
    RETURNS (K): The number as an int, or the letter.
    """
    if isinstance(k, str) and k in ("M", "O", "G"):
        return k
    if isinstance(k, str) and k.isdecimal():
        k = int(k)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f'k is a number of 1 or more, "M", "O" or "G", not {k!r}.')
    return int(k)


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Element-wise division where 0/0 and x/0 are 0."""
    out = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=out, where=denominator != 0)


def f1_score(precision: Floats, recall: Floats) -> Floats:
    """The harmonic mean of precision and recall, 0 where both are 0."""
    return divide(2 * precision * recall, precision + recall)


class Ranking:
    """Which predictions of each document are right.

    hits (Sequence[Sequence[bool]]): For each document, whether each prediction
        is right, best first.
    n_gold (Sequence[int]): Number of gold keyphrases of each document.
    n_rows (Optional[Sequence[int]]): Predictions before deduplication.
    counted (Optional[Sequence[Sequence[bool]]]): False for a repetition, which
        takes up a place but is not counted. True by default.
    """

    def __init__(
        self,
        hits: Sequence[Sequence[bool]],
        n_gold: Sequence[int],
        n_rows: Optional[Sequence[int]] = None,
        counted: Optional[Sequence[Sequence[bool]]] = None,
    ):
        # Documents one after another in flat arrays, so that nothing is padded.
        self.size: Ints = np.array([len(row) for row in hits], dtype=np.int64)
        self.n_gold: Ints = np.array(n_gold, dtype=np.int64)
        self.n_rows: Ints = self.size if n_rows is None else np.array(n_rows)
        self._start: Ints = np.cumsum(self.size) - self.size
        self._hits: Floats = np.array([h for row in hits for h in row], dtype=float)
        self._rank: Ints = np.arange(len(self._hits)) - np.repeat(
            self._start, self.size
        )
        if counted is None:
            self._counted: Floats = np.ones(len(self._hits))
        else:
            self._counted = np.array([c for row in counted for c in row], dtype=float)

    def _upto(self, gains: Floats, places: Ints) -> Floats:
        """The sum of the gains in the first so many places of each document."""
        total = np.concatenate([[0.0], np.cumsum(gains)])
        end = self._start + np.minimum(places, self.size)
        return np.asarray(total[end] - total[self._start])

    def places(self, k: K) -> Ints:
        """The cutoff k of each document as a number."""
        if k == "M":
            return self.size
        if k == "O":
            return self.n_gold
        if k == "G":
            return np.maximum(self.n_gold, self.size)
        return np.full(len(self.size), k, dtype=np.int64)

    def hits(self, k: K) -> Floats:
        """The number of right predictions among the first k."""
        return self._upto(self._hits, self.places(k))

    def count(self, k: K) -> Floats:
        """#K@k: the number of unique predictions, k at most."""
        return self._upto(self._counted, self.places(k))

    def predicted(self, k: K, denominator: Denominator = "hard") -> Floats:
        """What P@k divides by: see `Preset.denominator`."""
        if denominator == "rows":
            places = self.n_rows if k == "M" else self.places(k)
            return np.minimum(places, self.n_rows).astype(float)
        if denominator == "soft" or k == "M":
            return self.count(k)
        return self.places(k).astype(float)

    def precision(self, k: K, denominator: Denominator = "hard") -> Floats:
        """P@k."""
        return divide(self.hits(k), self.predicted(k, denominator))

    def recall(self, k: K) -> Floats:
        """R@k."""
        return divide(self.hits(k), self.n_gold.astype(float))

    def b(self, k: int) -> Floats:
        """B@k of PUSL: hits divided by k, however few were predicted."""
        return self.precision(k)

    def average_precision(self, k: K = "M") -> Floats:
        """AP@k: the precision at each hit, summed and divided by all gold."""
        total = np.concatenate([[0.0], np.cumsum(self._hits)])
        seen = total[1:] - np.repeat(total[self._start], self.size)
        gains = self._hits * seen / (self._rank + 1)
        return divide(self._upto(gains, self.places(k)), self.n_gold.astype(float))

    def ndcg(self, k: K, ideal: Ideal = "gold") -> Floats:
        """NDCG@k with a discount of log2(rank + 1).

        k (K): The cutoff. For "M" the ideal ranking is not cut off.
        ideal (str): See `Preset.ideal`.
        """
        dcg = self._upto(self._hits / np.log2(self._rank + 2), self.places(k))
        best = self.n_gold
        if ideal == "hits":
            best = self.hits("M").astype(np.int64)
        if k != "M":
            best = np.minimum(best, self.places(k))
        deepest = int(best.max(initial=0))
        table = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(deepest) + 2))])
        return divide(dcg, table[best])


def alpha_ndcg(
    predictions: Sequence[str],
    gold: Sequence[str],
    places: Sequence[int],
    alpha: float = 0.5,
) -> List[float]:
    """alpha-NDCG of one document as the generation evaluators compute it.

    A prediction is relevant to a gold phrase when its characters are a part of
    it, and worth (1 - alpha)^n for the n earlier ones relevant to the same. The
    ideal order is greedy, over the system's own predictions (Clarke et al. 2008).

    predictions (Sequence[str]): Normal forms, best first.
    gold (Sequence[str]): Normal forms.
    places (Sequence[int]): Cutoffs.
    RETURNS (List[float]): One value a cutoff; 0 where nothing is relevant.
    """
    if not predictions or not gold:
        return [0.0] * len(places)
    relevant = np.array([[p in g for g in gold] for p in predictions], dtype=float)
    if not relevant.any():
        return [0.0] * len(places)
    earlier = np.cumsum(relevant, axis=0) - relevant
    gains = (relevant * (1 - alpha) ** earlier).sum(axis=1)
    left, worth, best = relevant.copy(), np.ones(len(gold)), []
    for _ in predictions:
        value = left @ worth
        first = int(value.argmax())
        best.append(max(value[first], 0.0))
        worth = worth * (1 - alpha) ** relevant[first]
        left[first] = -1.0
    discount = np.log2(np.arange(len(predictions)) + 2)
    dcg, ideal = np.cumsum(gains / discount), np.cumsum(np.array(best) / discount)
    last = [min(max(place, 1), len(predictions)) - 1 for place in places]
    return [float(dcg[i] / ideal[i]) for i in last]
