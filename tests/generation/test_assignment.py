"""Assignments of targets to slots: worked examples, the public code's outputs,
properties."""

import json

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("scipy")

from spacy_keyphrase.training.assignment import (
    NONE,
    Candidates,
    make_hungarian,
    make_optimal_transport,
    transport_scores,
    transport_shares,
    transport_supplies,
)

Y1 = [0.80, 0.60, 0.10, 0.05, 0.02, 0.01]
Y2 = [0.05, 0.10, 0.70, 0.02, 0.01, 0.30]
NULL = [0.10, 0.20, 0.10, 0.90, 0.95, 0.50]
TOY = numpy.array([Y1, Y2, NULL])


def candidates(targets, null):
    """Slots of one step."""
    return Candidates(
        numpy.array(targets)[:, :, None],
        numpy.ones((len(targets), 1), dtype=bool),
        numpy.array(null)[:, None],
    )


def test_shares_and_supplies():
    shares = transport_shares(TOY, tau=1)
    expected = [
        [0.8421, 0.6667, 0.1111, 0.0515, 0.0204, 0.0123],
        [0.0526, 0.1111, 0.7778, 0.0206, 0.0102, 0.3704],
        [0.1053, 0.2222, 0.1111, 0.9278, 0.9694, 0.6173],
    ]
    numpy.testing.assert_allclose(shares, expected, atol=5e-5)
    assert transport_supplies(shares, 2, k=3).tolist() == [2, 2, 2]
    assert transport_supplies(shares, 2, k=2).tolist() == [2, 2, 2]
    sums = numpy.sort(transport_shares(TOY, tau=10)[:2], axis=1)[:, -3:].sum(axis=1)
    numpy.testing.assert_allclose(sums, [1.0662, 1.0457], atol=5e-5)


@pytest.mark.parametrize("solver", ["exact", "pot"])
@pytest.mark.parametrize("null_cost", ["zero", "score"])
@pytest.mark.parametrize("k, tau", [(3, 1), (2, 1), (3, 10)])
def test_exact_plan(k, tau, null_cost, solver):
    if solver == "pot":
        pytest.importorskip("ot")
    assign = make_optimal_transport(k, tau, null_cost, solver)
    plan = assign(candidates([Y1, Y2], NULL))
    assert plan.tolist() == [0, 0, 1, NONE, NONE, 1]
    shares = transport_shares(TOY, tau)
    cost = -shares
    if null_cost == "zero":
        cost[2] = 0
    total = cost[plan, numpy.arange(6)].sum()
    expected = {
        (1, "score"): -4.5541,
        (1, "zero"): -2.6569,
        (10, "score"): -2.3381,
        (10, "zero"): -1.4948,
    }
    assert total == pytest.approx(expected[tau, null_cost], abs=5e-5)


def test_sinkhorn_does_not_keep_the_supplies():
    """With the settings of the released code."""
    pytest.importorskip("ot")
    given = candidates([Y1, Y2], NULL)

    def plan(*settings):
        return make_optimal_transport(3, 1, *settings)(given).tolist()

    assert plan("score", "sinkhorn") == [0, 0, 1, NONE, NONE, NONE]
    exact = [0, 0, 1, NONE, NONE, 1]
    assert plan("score", "sinkhorn", "slots", 1e-3, 300) == exact
    assert plan("zero", "sinkhorn") == exact


def test_printed_normalisation_gives_every_target_one_slot():
    shares = transport_shares(TOY, tau=1, normalise="targets")
    sums = numpy.sort(shares[:2], axis=1)[:, -3:].sum(axis=1)
    numpy.testing.assert_allclose(sums, [0.9494, 0.9322], atol=5e-5)
    assert transport_supplies(shares, 2, k=3).tolist() == [1, 1, 4]
    assign = make_optimal_transport(3, 1, normalise="targets")
    assert assign(candidates([Y1, Y2], NULL)).tolist().count(NONE) == 4


def test_more_slots_asked_for_than_there_are():
    rows = [[0.9, 0.8, 0.7, 0.1], [0.05, 0.1, 0.6, 0.05], [0.02, 0.03, 0.05, 0.5]]
    null = [0.01, 0.01, 0.02, 0.02]
    shares = transport_shares(numpy.array([*rows, null]), tau=1)
    sums = numpy.sort(shares[:3], axis=1)[:, -3:].sum(axis=1)
    numpy.testing.assert_allclose(sums, [2.2804, 0.6190, 0.8147], atol=5e-5)
    assert transport_supplies(shares, 3, k=3).tolist() == [2, 1, 1, 0]
    assign = make_optimal_transport(3, 1)
    assert assign(candidates(rows, null)).tolist() == [0, 0, 1, 2]


def test_hungarian():
    """Three slots, two steps; targets [a b], [c eos]. The third slot stays spare."""
    targets = [
        [[0.6, 0.2], [0.5, 0.1], [0.1, 0.2]],
        [[0.3, 0.2], [0.4, 0.6], [0.1, 0.3]],
    ]
    # The page's scores: step 1 of (a, c), step 2 of (b, eos).
    targets[0] = [[0.6, 0.7], [0.5, 0.1], [0.1, 0.2]]
    given = Candidates(
        numpy.array(targets),
        numpy.ones((2, 2), dtype=bool),
        numpy.array([[0.1, 0.0], [0.1, 0.0], [0.8, 0.0]]),
    )
    numpy.testing.assert_allclose(
        given.targets.sum(axis=2), [[1.3, 0.6, 0.3], [0.5, 1.0, 0.4]]
    )
    assert make_hungarian()(given).tolist() == [0, 1, NONE]


def test_padding_counts_in_transport_only():
    """A target of one sub-token: behind it, slots that stop are better for transport,
    and equal for the Hungarian algorithm, which takes the first."""
    given = Candidates(
        numpy.array([[[0.5, 0.0], [0.4, 0.9]]]),
        numpy.array([[True, False]]),
        numpy.array([[0.1, 0.1], [0.1, 0.1]]),
    )
    assert make_hungarian()(given).tolist() == [0, NONE]
    assert make_optimal_transport(1, 1)(given).tolist() == [NONE, 0]


probabilities = st.floats(0, 1).map(lambda x: round(x, 3))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 9), st.integers(1, 8), st.integers(1, 4))
def test_properties(data, n_targets, n_slots, k):
    shape = (n_targets, n_slots)
    values = data.draw(
        st.lists(probabilities, min_size=n_slots * n_targets, max_size=100)
    )
    null = data.draw(st.lists(probabilities, min_size=n_slots, max_size=n_slots))
    rows = numpy.array(values[: n_targets * n_slots]).reshape(shape)
    one = candidates(rows.reshape(shape), null)
    learned = min(n_targets, n_slots)
    single = make_hungarian()(one)
    assert len(set(single.tolist()) - {NONE}) == learned
    assert (single != NONE).sum() == learned
    many = make_optimal_transport(k, 1)(one)
    # No target is lost, and none takes more slots than it has good ones.
    assert len(set(many.tolist()) - {NONE}) == learned
    if n_targets <= n_slots:
        shares = transport_shares(transport_scores(one), 1)
        supplies = transport_supplies(shares, n_targets, k)
        counts = numpy.bincount(many[many != NONE], minlength=n_targets)
        assert counts.tolist() == supplies[:n_targets].tolist()
        assert supplies.sum() == n_slots and (counts <= max(k, 1)).all()
        if k == 1:
            assert (counts == 1).all()


@pytest.fixture(scope="module")
def recorded(fixtures_dir):
    return json.loads((fixtures_dir / "ot_assign.json").read_text("utf8"))


def read(case):
    dist = numpy.array(case["dist_code_step_vocab"])
    steps = numpy.arange(2)
    rows = numpy.array([row[:2] for row in case["targets"]], dtype=int).reshape(-1, 2)
    return Candidates(
        dist[:, steps, rows].transpose(1, 0, 2),
        rows != 0,
        dist[:, steps, numpy.array(case["null_row"][:2])],
    )


VARIANTS = {"k3_tau10": (3, 10), "k1_tau10": (1, 10), "k3_tau1": (3, 1)}
VARIANTS["k2_tau1"] = (2, 1)


def test_the_public_code(recorded):
    """Scores, shares and supplies; the plan of its own solver, which loses targets."""
    pytest.importorskip("ot")
    lost = 0
    for case in recorded["cases"]:
        given, n = read(case), case["n_targets"]
        found = make_hungarian()(given)
        # Two targets may begin alike.
        begins = [*(target[:2] for target in case["targets"]), *[None] * (11 - n)]
        expected = [begins[row] for row in case["hungarian_code_to_row"]]
        assert [begins[row] for row in found] == expected
        for name, (k, tau) in VARIANTS.items():
            other = case["ot"][name]
            scores = transport_scores(given)
            numpy.testing.assert_allclose(scores, other["score"], atol=2e-6)
            shares = transport_shares(scores, tau)
            numpy.testing.assert_allclose(shares, other["mu"], atol=1e-6)
            supplies = transport_supplies(shares, n, k)
            assert supplies.tolist() == other["supplies"]
            rows = make_optimal_transport(k, tau, "score", "sinkhorn")(given)
            theirs = numpy.array(other["assignment_code_to_row"])
            assert rows.tolist() == numpy.where(theirs < n, theirs, NONE).tolist()
            exact = make_optimal_transport(k, tau, "score")(given)
            assert set(range(n)) <= set(exact.tolist())
            lost += len(set(range(n)) - set(theirs.tolist())) > 0
            if other["realised_counts"] == other["supplies"]:
                # Where it keeps the supplies, both plans cost the same.
                at = numpy.arange(10)
                full = numpy.where(exact == NONE, len(shares) - 1, exact)
                ours = -shares[full, at].sum()
                assert ours == pytest.approx(-shares[theirs, at].sum(), abs=1e-6)
    assert lost > 0


def test_supplies_of_the_public_code(recorded):
    for case in recorded["supply_cases"]:
        shares = transport_shares(numpy.array(case["C"]), case["tau"])
        numpy.testing.assert_allclose(shares, case["mu"], atol=1e-5)
        supplies = transport_supplies(shares, case["M"], case["k"])
        assert supplies.tolist() == case["supplies"]


def test_settings_out_of_range():
    with pytest.raises(ValueError, match="k is 0"):
        make_optimal_transport(k=0)
    with pytest.raises(ValueError, match="'exact', 'pot' or 'sinkhorn'"):
        make_optimal_transport(solver="simplex")
    with pytest.raises(ValueError, match="null_cost"):
        make_optimal_transport(null_cost="one")
