"""From the scores of a ranking head to probabilities (Platt 1999)."""

from typing import Iterable, Tuple

import numpy
from spacy.training import Example

from ..models.mentions import phrase_max
from ..pipeline.network import NetworkAnnotator
from .gold import read_gold


def fit_logistic(scores: numpy.ndarray, gold: numpy.ndarray) -> Tuple[float, float]:
    """Fit the probability 1 / (1 + exp(-(scale * score + shift))) of being gold,
    by maximum likelihood.

    scores (ndarray): Float of shape (phrases,).
    gold (ndarray): Whether they are gold, bool of the same shape.
    RETURNS (Tuple[float, float]): The scale and the shift.
    RAISES: ValueError where all phrases are gold, or none.
    """
    n_gold = int(gold.sum())
    if not 0 < n_gold < len(gold):
        raise ValueError(
            f"{n_gold} of {len(gold)} phrases are gold; to calibrate, some must be and "
            "some must not."
        )
    # Platt's targets, so that the fit is finite even where scores part the classes.
    positive, negative = (n_gold + 1) / (n_gold + 2), 1 / (len(gold) - n_gold + 2)
    target = numpy.where(gold, positive, negative)
    # Newton's method on standardised scores.
    mean, deviation = float(scores.mean()), float(scores.std()) or 1.0
    X = numpy.column_stack([(scores - mean) / deviation, numpy.ones(len(scores))])
    weights = numpy.array([0.0, numpy.log(n_gold / (len(gold) - n_gold))])
    for _ in range(100):
        p = 1 / (1 + numpy.exp(-(X @ weights)))
        slope = X.T @ (p - target)
        curvature = (X * (p * (1 - p))[:, None]).T @ X + 1e-9 * numpy.eye(2)
        step = numpy.linalg.solve(curvature, slope)
        weights = weights - step.clip(-1, 1)
        if abs(step).max() < 1e-9:
            break
    scale = float(weights[0]) / deviation
    return scale, float(weights[1]) - scale * mean


def calibration_error(
    probabilities: numpy.ndarray, gold: numpy.ndarray, bins: int = 15
) -> float:
    """Expected calibration error (Naeini et al. 2015) in bins of as many phrases each.

    probabilities (ndarray): Float of shape (phrases,).
    gold (ndarray): Whether they are gold, bool of the same shape.
    bins (int): Number of bins.
    """
    order = numpy.argsort(probabilities, kind="stable")
    parts = [part for part in numpy.array_split(order, bins) if len(part)]
    gaps = [
        len(part) * abs(probabilities[part].mean() - gold[part].mean())
        for part in parts
    ]
    return float(sum(gaps) / len(order))


def score_examples(
    pipe: NetworkAnnotator, examples: Iterable[Example]
) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Scores of candidate phrases before calibration, and whether they are gold.

    pipe (NetworkAnnotator): The pipe.
    examples (Iterable[Example]): Tokenized docs with gold; those without are left out.
    RETURNS (Tuple[ndarray, ndarray]): Float and bool, both of shape (phrases,).
    """
    scores, gold = [numpy.zeros(0)], [numpy.zeros(0, dtype=bool)]
    for example in examples:
        if pipe.key not in example.reference.spans:
            continue
        mentions = pipe.read([example.predicted])
        if not len(mentions):
            continue
        raw = pipe.score_mentions([example.predicted], mentions)
        scores.append(phrase_max(raw, mentions))
        gold.append(read_gold([example], mentions, pipe.key).phrases)
    return numpy.concatenate(scores), numpy.concatenate(gold)
