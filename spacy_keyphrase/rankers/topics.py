"""Rankers on a graph of topics: TopicRank, MultipartiteRank."""

import warnings
from functools import partial
from typing import List, Literal, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..candidates import Candidate
from ..registry import registry
from ..word_reader import get_word_reader
from .base import Ranker, Scores
from .pagerank import Floats, Ints, pagerank

# Pairs of mentions that are looked at in one step.
_BLOCK = 1 << 20


@registry.keyphrase_rankers("spacy_keyphrase.TopicRank.v1")
def make_topicrank(
    similarity: float = 0.26, damping: float = 0.85, max_candidates: int = 500
) -> Ranker:
    """TopicRank (Bougouin, Boudin and Daille 2013): candidates that share stems form
    topics; topics are ranked on the complete graph, weighted by how close they
    occur; the first candidate of a topic has its score, the others 0.

    similarity (float): Topics are merged, by average linkage, while the Jaccard
        coefficient of their stems is at least this.
    damping (float): PageRank's damping.
    max_candidates (int): The cost grows with the square of the number of candidates:
        beyond this many, the most frequent and earliest are ranked, the others
        have 0, and a warning says so.
    RETURNS (Ranker): Its scores are relative to the document's best phrase.
    """
    return _topic_graph("topic", similarity, damping, max_candidates, 0.0)


@registry.keyphrase_rankers("spacy_keyphrase.MultipartiteRank.v1")
def make_multipartiterank(
    similarity: float = 0.26,
    damping: float = 0.85,
    max_candidates: int = 500,
    alpha: float = 1.1,
) -> Ranker:
    """MultipartiteRank (Boudin 2018): candidates of different topics are linked, by
    how close they occur; the edges into the first candidate of a topic are
    strengthened by those into the others (eq. 2).

    similarity (float): As in TopicRank.
    damping (float): PageRank's damping.
    max_candidates (int): As in TopicRank.
    alpha (float): Strength of the adjustment for the first candidate of a topic.
    RETURNS (Ranker): Its scores are relative to the document's best phrase.
    """
    return _topic_graph("multipartite", similarity, damping, max_candidates, alpha)


def _topic_graph(
    graph: Literal["topic", "multipartite"],
    similarity: float,
    damping: float,
    max_candidates: int,
    alpha: float,
) -> Ranker:
    if not 0 < similarity <= 1:
        raise ValueError(f"similarity must be above 0, at most 1, not {similarity}.")
    if not 0 < damping < 1:
        raise ValueError(f"damping must be between 0 and 1, not {damping}.")
    if max_candidates < 1:
        raise ValueError(f"max_candidates must be at least 1, not {max_candidates}.")
    return partial(
        _rank,
        graph=graph,
        similarity=similarity,
        damping=damping,
        max_candidates=max_candidates,
        alpha=alpha,
    )


def _rank(
    docs: Sequence[Doc],
    candidates: Sequence[List[Candidate]],
    *,
    graph: Literal["topic", "multipartite"],
    similarity: float,
    damping: float,
    max_candidates: int,
    alpha: float,
) -> List[Scores]:
    scores = []
    for doc, phrases in zip(docs, candidates):
        chosen = _most_frequent(phrases, max_candidates)
        ranked = [phrases[i] for i in chosen]
        first_stems = get_word_reader(doc.lang_).read(doc).first_stems
        topics = _topics(ranked, similarity)
        closeness = _closeness(ranked, first_stems)
        if graph == "topic":
            ranks = _topic_ranks(closeness, topics, damping)
        else:
            firsts = np.array([first_stems[c.mentions[0][0]] for c in ranked])
            ranks = _multipartite_ranks(closeness, topics, firsts, damping, alpha)
        all_ranks = np.zeros(len(phrases))
        all_ranks[chosen] = ranks
        best = all_ranks.max(initial=0.0) or 1.0
        scores.append(Scores((all_ranks / best).tolist()))
    return scores


def _most_frequent(phrases: List[Candidate], limit: int) -> List[int]:
    """Indices of the candidates to rank, in text order."""
    if len(phrases) <= limit:
        return list(range(len(phrases)))
    warnings.warn(
        f"A document has {len(phrases)} candidates; the {limit} most frequent and "
        "earliest are ranked (max_candidates).",
        stacklevel=2,
    )
    order = sorted(range(len(phrases)), key=lambda i: -len(phrases[i].mentions))
    return sorted(order[:limit])


def _topics(phrases: List[Candidate], threshold: float) -> Ints:
    """The topic of each candidate, topics numbered by their first candidate.

    Average linkage over the Jaccard coefficients of the stems.
    """
    n = len(phrases)
    column = {s: i for i, s in enumerate(sorted({s for p in phrases for s in p.stems}))}
    holds = np.zeros((n, len(column)))
    for i, phrase in enumerate(phrases):
        holds[i, [column[stem] for stem in phrase.stems]] = 1.0
    common = holds @ holds.T
    sizes = holds.sum(axis=1)
    linkage = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1.0)
    np.fill_diagonal(linkage, -1.0)
    members = np.ones(n)
    topic = np.arange(n)
    while n > 1:
        a, b = divmod(int(linkage.argmax()), n)
        if linkage[a, b] < threshold:
            break
        a, b = min(a, b), max(a, b)
        total = members[a] + members[b]
        merged = (members[a] * linkage[a] + members[b] * linkage[b]) / total
        linkage[a], linkage[:, a] = merged, merged
        linkage[b], linkage[:, b] = -1.0, -1.0
        linkage[a, a] = -1.0
        members[a] = total
        topic[topic == b] = a
    return np.unique(topic, return_inverse=True)[1].astype(np.int64)


def _closeness(phrases: List[Candidate], first_stems: List[int]) -> Floats:
    """For each pair of candidates the sum, over pairs of mentions, of the inverse of
    the number of words between them; shape (n_candidates, n_candidates)."""
    n = len(phrases)
    if n == 0:
        return np.zeros((0, 0))
    starts = [[first_stems[start] for start, _ in p.mentions] for p in phrases]
    position = np.array([start for group in starts for start in group], dtype=float)
    owner = np.repeat(np.arange(n), [len(group) for group in starts])
    extra = np.array([len(phrases[i].stems) - 1.0 for i in owner])
    heads = np.concatenate([[0], np.flatnonzero(np.diff(owner)) + 1])
    rows = max(1, _BLOCK // len(position))
    per_mention = np.empty((len(position), n))
    for i in range(0, len(position), rows):
        here = slice(i, i + rows)
        gap = position[None, :] - position[here, None]
        earlier = np.where(gap > 0, extra[here, None], extra[None, :])
        inverse = 1.0 / np.maximum(np.abs(gap) - earlier, 1.0)
        per_mention[here] = np.add.reduceat(inverse, heads, axis=1)
    closeness = np.add.reduceat(per_mention, heads, axis=0)
    np.fill_diagonal(closeness, 0.0)
    return closeness


def _edges(matrix: Floats) -> Tuple[Ints, Ints, Floats]:
    """The edges of a graph given as weights from row to column."""
    sources, targets = np.nonzero(matrix)
    return sources, targets, matrix[sources, targets]


def _topic_ranks(closeness: Floats, topics: Ints, damping: float) -> Floats:
    n_topics = int(topics.max(initial=-1)) + 1
    belongs = np.zeros((len(topics), n_topics))
    belongs[np.arange(len(topics)), topics] = 1.0
    between = belongs.T @ closeness @ belongs
    np.fill_diagonal(between, 0.0)
    ranks = pagerank(*_edges(between), n_topics, damping=damping)
    scores = np.zeros(len(topics))
    # Candidates come in text order, so the first of a topic occurs first.
    firsts = np.unique(topics, return_index=True)[1]
    scores[firsts] = ranks
    return scores


def _multipartite_ranks(
    closeness: Floats, topics: Ints, firsts: Ints, damping: float, alpha: float
) -> Floats:
    n = len(topics)
    weights = np.where(topics[:, None] == topics[None, :], 0.0, closeness)
    adjusted = weights.copy()
    for topic in range(int(topics.max(initial=-1)) + 1):
        members = np.flatnonzero(topics == topic)
        if len(members) > 1:
            first, others = members[0], members[1:]
            boost = weights[:, others].sum(axis=1) * np.exp(1 / (1 + firsts[first]))
            adjusted[:, first] += alpha * boost
    return pagerank(*_edges(adjusted), n, damping=damping)
