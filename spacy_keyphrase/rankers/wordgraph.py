"""Rankers on a graph of words: TextRank, SingleRank, PositionRank."""

from functools import partial
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..candidates import Candidate
from ..lexicon import ADJECTIVE, NOUN
from ..registry import registry
from ..word_reader import get_word_reader
from ..words import Words
from .base import Ranker, Scores
from .pagerank import Floats, Ints, pagerank


@registry.keyphrase_rankers("spacy_keyphrase.TextRank.v1")
def make_textrank(window: int = 2, damping: float = 0.85) -> Ranker:
    """TextRank (Mihalcea and Tarau 2004): PageRank on the unweighted graph of nouns
    and adjectives that stand close together; a phrase scores the sum of its words.

    window (int): Words closer than this many positions are linked.
    damping (float): PageRank's damping.
    RETURNS (Ranker): Its scores are relative to the document's best phrase.
    """
    return _word_graph(window, damping, weighted=False, biased=False)


@registry.keyphrase_rankers("spacy_keyphrase.SingleRank.v1")
def make_singlerank(window: int = 10, damping: float = 0.85) -> Ranker:
    """SingleRank (Wan and Xiao 2008): as TextRank, the edges weighted by how often
    two words stand within a wider window.

    window (int): Words closer than this many positions are linked.
    damping (float): PageRank's damping.
    RETURNS (Ranker): Its scores are relative to the document's best phrase.
    """
    return _word_graph(window, damping, weighted=True, biased=False)


@registry.keyphrase_rankers("spacy_keyphrase.PositionRank.v1")
def make_positionrank(window: int = 10, damping: float = 0.85) -> Ranker:
    """PositionRank (Florescu and Caragea 2017): as SingleRank, restarting at a word
    with a probability in proportion to the sum of the inverse positions of its
    occurrences.

    window (int): Words closer than this many positions are linked.
    damping (float): PageRank's damping.
    RETURNS (Ranker): Its scores are relative to the document's best phrase.
    """
    return _word_graph(window, damping, weighted=True, biased=True)


def _word_graph(window: int, damping: float, weighted: bool, biased: bool) -> Ranker:
    if window < 2:
        raise ValueError(f"window must be at least 2, not {window}.")
    if not 0 < damping < 1:
        raise ValueError(f"damping must be between 0 and 1, not {damping}.")
    return partial(
        _rank, window=window, damping=damping, weighted=weighted, biased=biased
    )


def _rank(
    docs: Sequence[Doc],
    candidates: Sequence[List[Candidate]],
    *,
    window: int,
    damping: float,
    weighted: bool,
    biased: bool,
) -> List[Scores]:
    scores = []
    for doc, phrases in zip(docs, candidates):
        words = get_word_reader(doc.lang_).read(doc)
        node_of, nodes, positions = _graph_words(words)
        sources, targets, weights = _links(nodes, positions, window)
        restart: Optional[Floats] = None
        if biased:
            restart = np.bincount(nodes, 1 / (positions + 1)).astype(float)
        if not weighted:
            weights = np.ones_like(weights)
        ranks = pagerank(
            sources, targets, weights, len(node_of), restart, damping
        ).tolist()
        raw = [
            sum([ranks[node_of[stem]] for stem in phrase.stems if stem in node_of])
            for phrase in phrases
        ]
        best = max(raw, default=0.0) or 1.0
        scores.append(Scores([score / best for score in raw]))
    return scores


def _graph_words(words: Words) -> Tuple[Dict[str, int], Ints, Floats]:
    """The nouns and adjectives of a doc: node of each stem; node and position of
    each occurrence."""
    node_of: Dict[str, int] = {}
    nodes: List[int] = []
    positions: List[int] = []
    stems, first_stems = words.stems, words.first_stems
    for unit in words.units:
        if unit.cls == NOUN or unit.cls == ADJECTIVE:
            for i in range(first_stems[unit.start], first_stems[unit.end]):
                nodes.append(node_of.setdefault(stems[i], len(node_of)))
                positions.append(i)
    return node_of, np.array(nodes, dtype=np.int64), np.array(positions, dtype=float)


def _links(nodes: Ints, positions: Floats, window: int) -> Tuple[Ints, Ints, Floats]:
    """Both directions of every link within the window, with its count."""
    n = int(nodes.max()) + 1 if len(nodes) else 0
    keys = []
    # The k-th next noun or adjective is at least k positions away.
    for k in range(1, min(window, len(nodes))):
        left, right = nodes[:-k], nodes[k:]
        close = (positions[k:] - positions[:-k] < window) & (left != right)
        keys.append(left[close] * n + right[close])
        keys.append(right[close] * n + left[close])
    if not keys:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    pairs, counts = np.unique(np.concatenate(keys), return_counts=True)
    return pairs // n, pairs % n, counts.astype(float)
