"""How much the topic of documents changes, and what that does to extraction (the
analysis of corpora in the MUDY paper)."""

from typing import Callable, List, Optional, Sequence, Tuple

import numpy

from .matching import make_form
from .presets import get_preset

# From texts to a vector of each, float of shape (texts, width).
Embedder = Callable[[Sequence[str]], numpy.ndarray]


def topic_drift(
    documents: Sequence[Sequence[str]], embed: Embedder, *, size: int = 3
) -> List[Optional[float]]:
    """How far parts of documents are from each other: 1 minus the mean cosine of all
    pairs of parts.

    documents (Sequence[Sequence[str]]): The sentences of each document.
    embed (Callable): From texts to their vectors, float of shape (texts, width).
    size (int): Sentences of a part.
    RETURNS (List[Optional[float]]): Of each document, from 0 (one topic) to 2; None
        where it has no more than one part.
    """
    if size < 1:
        raise ValueError(f"size must be 1 or more, not {size}.")
    drifts: List[Optional[float]] = []
    for sentences in documents:
        parts = [
            " ".join(sentences[i : i + size]) for i in range(0, len(sentences), size)
        ]
        if len(parts) < 2:
            drifts.append(None)
            continue
        vectors = _unit(embed(parts))
        # Of all pairs, without those of a part with itself.
        n = len(parts)
        total = float((vectors.sum(axis=0) ** 2).sum()) - float((vectors**2).sum())
        drifts.append(1 - total / (n * (n - 1)))
    return drifts


def recall_by_similarity(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    texts: Sequence[str],
    embed: Embedder,
    *,
    k: int = 10,
    bounds: Sequence[float] = (0.2, 0.3, 0.4, 0.5, 0.6),
    lang: str = "en",
) -> List[Tuple[float, float, int, Optional[float]]]:
    """Recall of gold keyphrases that are as near to their document as others, or less:
    does a system only find what the whole document is about?

    predictions (Sequence[Sequence[str]]): Of each document, best first.
    references (Sequence[Sequence[str]]): Gold keyphrases of each document.
    texts (Sequence[str]): The documents.
    embed (Callable): From texts to their vectors, float of shape (texts, width).
    k (int): How many predictions count.
    bounds (Sequence[float]): Cosines between one class and the next, ascending.
    lang (str): Language of the stems.
    RETURNS (List[Tuple[float, float, int, Optional[float]]]): Of each class its lowest
        and its highest cosine, the number of gold keyphrases, and the share of them
        that was found, None where there are none.
    """
    if list(bounds) != sorted(bounds):
        raise ValueError(f"bounds must ascend: {list(bounds)}.")
    form = make_form(get_preset("default"), lang)
    edges = [-1.0, *bounds, 1.0]
    counts = numpy.zeros((len(edges) - 1, 2), dtype=int)
    for predicted, gold, text in zip(predictions, references, texts, strict=True):
        if not gold:
            continue
        found = {form(phrase) for phrase in predicted[:k]}
        document, *phrases = _unit(embed([text, *gold]))
        cosines = numpy.array([vector @ document for vector in phrases])
        classes = numpy.searchsorted(list(bounds), cosines, side="right")
        for phrase, number in zip(gold, classes.tolist(), strict=True):
            counts[number] += 1, form(phrase) in found
    return [
        (low, high, n, hits / n if n else None)
        for low, high, (n, hits) in zip(
            edges[:-1], edges[1:], counts.tolist(), strict=True
        )
    ]


def _unit(vectors: numpy.ndarray) -> numpy.ndarray:
    vectors = numpy.asarray(vectors, dtype="f8")
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    unit: numpy.ndarray = vectors / numpy.maximum(lengths, 1e-12)
    return unit
