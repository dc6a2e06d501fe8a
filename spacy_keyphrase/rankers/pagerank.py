"""PageRank on weighted graphs given as edge lists."""

from typing import Optional

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Below this many nodes a matrix is faster than an edge list.
_DENSE = 400


def pagerank(
    sources: Ints,
    targets: Ints,
    weights: Floats,
    n_nodes: int,
    restart: Optional[Floats] = None,
    damping: float = 0.85,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> Floats:
    """PageRank (Brin and Page 1998) of a directed, weighted graph.

    sources, targets (Ints): Ends of the edges, shape (n_edges,); an edge may come
        more than once, its weights add up. Give both directions of an undirected
        edge.
    weights (Floats): Weights of the edges, shape (n_edges,), not negative.
    n_nodes (int): Number of nodes.
    restart (Optional[Floats]): Probabilities of a restart at each node, shape
        (n_nodes,), any scale; uniform by default.
    damping (float): Probability of following an edge.
    tolerance (float): The iteration ends when the ranks change by less, in sum.
    max_iterations (int): ... or after this many steps.
    RETURNS (Floats): The ranks, shape (n_nodes,), summing to 1.
    """
    if n_nodes == 0:
        return np.zeros(0)
    if restart is None or restart.sum() <= 0:
        restart = np.ones(n_nodes)
    restart = restart / restart.sum()
    strength = np.bincount(sources, weights, n_nodes)
    # A node without edges hands its rank to the restart.
    dangling = strength == 0
    weights = weights / np.where(dangling, 1.0, strength)[sources]
    matrix: Optional[Floats] = None
    if n_nodes <= _DENSE:
        matrix = np.zeros((n_nodes, n_nodes))
        np.add.at(matrix, (targets, sources), weights)
    has_dangling = bool(dangling.any())
    ranks = restart
    for _ in range(max_iterations):
        if matrix is not None:
            moved = matrix @ ranks
        else:
            moved = np.bincount(targets, weights * ranks[sources], n_nodes)
        if has_dangling:
            moved = moved + ranks[dangling].sum() * restart
        following = damping * moved + (1 - damping) * restart
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < tolerance:
            break
    return ranks
