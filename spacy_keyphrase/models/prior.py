"""An untrained ranking of phrases, for a network to correct."""

from typing import Dict

import numpy

from ..rankers.statistical import LEAST_SIMILAR
from ..words import bounds

# Share of its value that a phrase keeps if it never stands free of its neighbours, if
# its last word is no noun, if a stop word is inside.
_BOUND, _NO_NOUN, _BROKEN = 0.15, 0.3, 0.3
# Logarithms are divided by it, to be about as large as other features.
LOG_SCALE = 3
_LENGTHS = numpy.array([0.38, 1.0, 1.4, 1.3, 0.55])


def add_priors(
    columns: Dict[str, numpy.ndarray],
    counts: numpy.ndarray,
    places: numpy.ndarray,
    lengths: numpy.ndarray,
    doc_phrases: numpy.ndarray,
) -> None:
    """Add what the statistical ranker's formula makes of the features of a document's
    phrases, alone and times the square root of their similarity to the document:
    the logarithms, and the ranks.

    columns (Dict[str, ndarray]): Features by name, added to. Read are "value",
        "capitals", "left_edge", "right_edge", "noun_head", "other_inside" and
        "similarity".
    counts (ndarray): Mentions of each phrase.
    places (ndarray): Words before each phrase's first mention.
    lengths (ndarray): Words of each phrase.
    doc_phrases (ndarray): Phrases of each doc, docs in order.
    """
    prior = columns["value"] * _LENGTHS[lengths.clip(max=len(_LENGTHS)) - 1]
    prior = prior * counts**0.24 / (places + 10) ** 0.3
    prior *= 1 + 0.5 * (counts > 1)
    prior *= 1 + 0.4 * columns["capitals"]
    prior *= numpy.maximum(columns["left_edge"] * columns["right_edge"], _BOUND)
    prior *= numpy.where(columns["noun_head"], 1, _NO_NOUN)
    prior *= numpy.where(columns["other_inside"], _BROKEN, 1)
    similarity = numpy.maximum(columns["similarity"], LEAST_SIMILAR)
    near = prior * numpy.sqrt(similarity)
    columns["prior"] = numpy.log(prior + 1e-3) / LOG_SCALE
    columns["near_prior"] = numpy.log(near + 1e-3) / LOG_SCALE
    columns["prior_rank"] = _ranks(prior, doc_phrases)
    columns["near_prior_rank"] = _ranks(near, doc_phrases)
    columns["similarity_rank"] = _ranks(columns["similarity"], doc_phrases)


def _ranks(values: numpy.ndarray, doc_phrases: numpy.ndarray) -> numpy.ndarray:
    """The logarithm of the place from the top in the doc, of equals in the order of
    the text."""
    docs = numpy.repeat(numpy.arange(len(doc_phrases)), doc_phrases)
    high = values.max()
    # One number to sort by: all of a doc come before those of the next.
    order = docs + (high - values) / (2 * (high - values.min()) + 1e-9)
    places = numpy.arange(len(values)) - bounds(doc_phrases)[docs]
    ranks = numpy.empty(len(values))
    ranks[numpy.argsort(order, kind="stable")] = places
    logarithms: numpy.ndarray = numpy.log1p(ranks) / 5
    return logarithms
