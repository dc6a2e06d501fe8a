"""Scores of candidates from vectors of them and of their documents."""

from typing import List

import torch
from torch import Tensor
from torch.nn.functional import normalize

# JointGL's settings: share of the range of edges below which there is none, weight of
# the distance to the end, weight of edges from the less central side.
EDGE, END, BACK = 0.1, 1.2, 0.9


def cosines(phrases: Tensor, document: Tensor) -> Tensor:
    """The cosine of each phrase and its document.

    phrases (Tensor): Float of shape (phrases, width).
    document (Tensor): Float of shape (width,).
    """
    return normalize(phrases, dim=-1) @ normalize(document, dim=-1)


def maximal_marginal_relevance(
    relevance: Tensor, phrases: Tensor, diversity: float
) -> Tensor:
    """Scores whose order is that in which phrases are picked, each by
    ``(1 - diversity) * relevance - diversity * similarity``, with the highest cosine to
    one picked before (Carbonell and Goldstein 1998; EmbedRank++).

    relevance (Tensor): Float of shape (phrases,).
    phrases (Tensor): Their vectors, float of shape (phrases, width).
    diversity (float): From 0, relevance alone, to 1.
    """
    n = len(relevance)
    similar = normalize(phrases, dim=-1) @ normalize(phrases, dim=-1).T
    nearest = torch.zeros(n)
    scores = torch.zeros(n)
    left = torch.ones(n, dtype=torch.bool)
    for _ in range(n):
        values = (1 - diversity) * relevance - diversity * nearest
        best = int(values.masked_fill(~left, -torch.inf).argmax())
        scores[best] = values[best]
        left[best] = False
        nearest = torch.maximum(nearest, similar[best])
    return scores


def joint_global_local(phrases: Tensor, document: Tensor, places: List[int]) -> Tensor:
    """Similarity to the document times centrality among the phrases, with those near
    the ends of the document preferred (Liang et al. 2021, "Unsupervised Keyphrase
    Extraction by Jointly Modeling Local and Global Context").

    phrases (Tensor): Vectors in the order of the document, float of shape
        (phrases, width).
    document (Tensor): Float of shape (width,).
    places (List[int]): Where each phrase stands first, counted in tokens from 1.
    """
    n = len(phrases)
    edges = phrases @ phrases.T
    low, high = edges.min(), edges.max()
    edges = (edges - (low + EDGE * (high - low))).clamp(min=0)
    order = torch.arange(n, dtype=torch.float)
    to_end = torch.minimum(order, END * (n - order))
    # Edges to phrases further inside count whole.
    weights = torch.where(to_end[:, None] < to_end[None], 1.0, BACK)
    centrality = (edges * weights).sum(dim=1)
    relevance = 1 / (phrases - document).abs().sum(dim=1).clamp(min=1e-9)
    position = (1 / torch.tensor(places, dtype=torch.float)).softmax(dim=0)
    return centrality * relevance * position
