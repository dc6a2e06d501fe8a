import numpy as np
import pytest

from spacy_keyphrase.rankers import pagerank as module
from spacy_keyphrase.rankers.pagerank import pagerank


def test_a_star_by_hand():
    """Two leaves link with a hub: r_hub = .05 + .85 * 2 * r_leaf, and the sum is 1."""
    sources, targets = np.array([0, 0, 1, 2]), np.array([1, 2, 0, 0])
    hub = (0.05 + 0.85) / 1.85
    expected = [hub, (1 - hub) / 2, (1 - hub) / 2]
    ranks = pagerank(sources, targets, np.ones(4), 3, tolerance=1e-12)
    assert ranks == pytest.approx(expected, abs=1e-6)


def test_weights_decide_and_repeated_edges_add_up():
    sources, targets = np.array([0, 0, 0, 1, 2]), np.array([1, 1, 2, 0, 0])
    ranks = pagerank(sources, targets, np.ones(5), 3)
    once = pagerank(
        np.array([0, 0, 1, 2]), np.array([1, 2, 0, 0]), np.array([2.0, 1, 1, 1]), 3
    )
    assert ranks == pytest.approx(once, abs=1e-6)
    assert ranks[1] > ranks[2]


def test_restart_draws_rank_to_its_nodes():
    sources, targets = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    even = pagerank(sources, targets, np.ones(4), 3)
    biased = pagerank(sources, targets, np.ones(4), 3, restart=np.array([8.0, 1, 1]))
    assert even[0] == pytest.approx(even[2])
    assert biased[0] > biased[2]


def test_dangling_nodes_keep_the_sum():
    ranks = pagerank(np.array([0]), np.array([1]), np.ones(1), 3)
    assert ranks.sum() == pytest.approx(1.0)
    assert (ranks > 0).all()


def test_no_nodes_and_no_edges():
    none = np.zeros(0, dtype=np.int64)
    assert len(pagerank(none, none, np.zeros(0), 0)) == 0
    assert pagerank(none, none, np.zeros(0), 4) == pytest.approx([0.25] * 4)


def test_matrix_and_edge_list_agree(monkeypatch):
    rng = np.random.default_rng(0)
    sources, targets = rng.integers(0, 50, 400), rng.integers(0, 50, 400)
    weights = rng.random(400)
    dense = pagerank(sources, targets, weights, 50)
    monkeypatch.setattr(module, "_DENSE", 0)
    sparse = pagerank(sources, targets, weights, 50)
    # The same sums in another order: equal up to rounding.
    assert dense == pytest.approx(sparse, abs=1e-12)
