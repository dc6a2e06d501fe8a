"""Equality of keyphrases up to rounding.

A matrix product of a batch rounds other than that of a doc alone. Scores then differ in
their last bits, and phrases with equal scores may change places.
"""

from typing import Any, Dict, List

# Scores are of 32 bits, through some ten layers.
TOLERANCE = 1e-4

Records = List[Dict[str, Any]]


def assert_same(one: List[Records], other: List[Records]) -> None:
    """The keyphrases of docs, as dictionaries, are the same."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert abs(x["score"] - y["score"]) < TOLERANCE
        left = {phrase["normal_form"]: phrase for phrase in a}
        right = {phrase["normal_form"]: phrase for phrase in b}
        for form in left.keys() & right.keys():
            x, y = left[form], right[form]
            assert abs(x["score"] - y["score"]) < TOLERANCE
            assert [x["text"], x["offsets"]] == [y["text"], y["offsets"]]
        for form in left.keys() ^ right.keys():
            # Only the last place may be another's.
            last = (left.get(form) or right[form])["score"]
            assert abs(last - a[-1]["score"]) < TOLERANCE
