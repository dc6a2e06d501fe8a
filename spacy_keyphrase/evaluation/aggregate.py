"""From documents to a corpus: the three averages.

Every corpus value is a function of a few sums over documents, so that a value
and its bootstrap distribution come from the same code.
"""

from typing import Mapping, NamedTuple

import numpy as np

from .metrics import Floats, divide, f1_score
from .presets import Average


class Statistic(NamedTuple):
    """A corpus value as a function of sums over documents.

    columns (Floats): One row a summand, one column a document: a numerator and
        a denominator, twice for an F1 of two averages, and last whether the
        document counts.
    """

    columns: Floats

    def value(self, sums: Floats) -> Floats:
        """The corpus value of sums of the columns; NaN where no document counts.

        sums (Floats): Shape (len(columns), ...).
        """
        value = divide(sums[0], sums[1])
        if len(sums) == 5:
            value = f1_score(value, divide(sums[2], sums[3]))
        return np.where(sums[-1] > 0, value, np.nan)

    def corpus_value(self) -> float:
        """The value of the whole corpus."""
        return float(self.value(self.columns.sum(axis=1)))


def statistic(
    per_document: Mapping[str, Floats], name: str, average: Average
) -> Statistic:
    """How the corpus value of a metric is made from per-document arrays.

    per_document (Mapping[str, Floats]): Arrays by name, NaN for documents that
        do not count: `Scores.per_document`.
    name (str): Such as "present_f1@5".
    average (str): "macro_f1", "macro_pr" or "micro": see `Preset.average`.
    RETURNS (Statistic): The columns to sum.
    """
    kind, _, metric = name.partition("_")
    metric, _, k = metric.partition("@")
    counts = ~np.isnan(per_document[name])
    one = counts.astype(float)
    if metric in ("p", "r", "f1") and average == "micro":
        hits = per_document[f"{kind}_hits@{k}"]
        ratios = {"p": per_document[f"{kind}_predicted@{k}"]}
        ratios["r"] = per_document[f"{kind}_gold"]
        wanted = ratios.values() if metric == "f1" else [ratios[metric]]
        rows = [row for denominator in wanted for row in (hits, denominator)]
    elif metric == "f1" and average == "macro_pr":
        rows = [per_document[f"{kind}_p@{k}"], one, per_document[f"{kind}_r@{k}"], one]
    else:
        rows = [per_document[name], one]
    return Statistic(np.where(counts, np.stack([*rows, one]), 0.0))
