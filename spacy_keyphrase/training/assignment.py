"""Which slot of a set generator learns which target.

A slot is a control code of One2Set. What a slot would write without help in its first
steps decides what it is taught; targets and slots are those of one half (present or
absent) of one document.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, Literal, Tuple

import numpy

from ..registry import registry

Assignment = Callable[["Candidates"], numpy.ndarray]
Solver = Literal["exact", "pot", "sinkhorn"]
# From costs and supplies to the row of each slot.
Solve = Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray]
NONE = -1


@dataclass(frozen=True)
class Candidates:
    """What the slots of one half say of its targets.

    targets (ndarray): The probability that each slot gives to the sub-token of each
        target at each step, float of shape (targets, slots, steps). Behind the end of
        a target that of padding.
    inside (ndarray): Which steps are not behind the end, bool of shape (targets,
        steps).
    null (ndarray): The probabilities of the null token and of padding behind it, float
        of shape (slots, steps).
    """

    targets: numpy.ndarray
    inside: numpy.ndarray
    null: numpy.ndarray

    @property
    def slots(self) -> int:
        """How many slots there are."""
        return len(self.null)


@registry.keyphrase_assignments("spacy_keyphrase.Hungarian.v1")
def make_hungarian() -> Assignment:
    """Each target goes to one slot, so that the sum of the probabilities is greatest
    (One2Set, Ye et al. 2021, section 3). Spare slots learn to write nothing; of more
    targets than slots those are learned that fit best. Training needs scipy.

    RETURNS (Callable[[Candidates], ndarray]): The number of a target for each slot, or
        -1 for none, int of shape (slots,).
    """
    return assign_one_each


def assign_one_each(candidates: Candidates) -> numpy.ndarray:
    """One slot for each target, as in `make_hungarian`."""
    scores = (candidates.targets * candidates.inside[:, None]).sum(axis=2)
    of_slots = numpy.full(candidates.slots, NONE)
    rows, slots = _match(-scores)
    of_slots[slots] = rows
    return of_slots


@registry.keyphrase_assignments("spacy_keyphrase.OptimalTransport.v1")
def make_optimal_transport(
    k: int = 3,
    tau: float = 10.0,
    null_cost: Literal["zero", "score"] = "zero",
    solver: Solver = "exact",
    normalise: Literal["slots", "targets"] = "slots",
    epsilon: float = 1e-3,
    iterations: int = 100,
) -> Assignment:
    """A target goes to as many slots as are good at it, the others learn to write
    nothing (One2Set with optimal transport, "ONE2SET + Large Language Model: Best
    Partners for Keyphrase Generation"). Training needs scipy, with some solvers POT.

    k (int): Of how many slots the shares are added up; 1 gives each target one slot.
    tau (float): Temperature; the higher, the more alike the shares.
    null_cost (str): "zero" as in the paper, or "score" as in the released code: minus
        the share of the null row.
    solver (str): "exact", by the Hungarian algorithm on repeated rows; "pot", the
        network simplex of POT; or "sinkhorn" as in the released code, which may leave
        a target without a slot.
    normalise (str): "slots": the shares of a slot add up to 1, as in the released
        code; "targets": those of a target do, as in print, where every target has one
        slot.
    epsilon (float): Regularisation of "sinkhorn".
    iterations (int): Of "sinkhorn".
    RETURNS (Callable[[Candidates], ndarray]): The number of a target for each slot, or
        -1 for none, int of shape (slots,).
    RAISES: ValueError at settings out of range.
    """
    if k < 1 or tau <= 0 or epsilon <= 0 or iterations < 1:
        raise ValueError(
            f"k is {k}, tau {tau}, epsilon {epsilon}, iterations {iterations}; all "
            "must be above 0."
        )
    if null_cost not in ("zero", "score"):
        raise ValueError(f"null_cost is {null_cost!r}; use 'zero' or 'score'.")
    if normalise not in ("slots", "targets"):
        raise ValueError(f"normalise is {normalise!r}; use 'slots' or 'targets'.")
    solvers: Dict[str, Solve] = {
        "exact": solve_exactly,
        "pot": solve_with_pot,
        "sinkhorn": partial(solve_by_sinkhorn, epsilon=epsilon, iterations=iterations),
    }
    if solver not in solvers:
        raise ValueError(f"solver is {solver!r}; use 'exact', 'pot' or 'sinkhorn'.")
    return OptimalTransport(k, tau, null_cost, normalise, solvers[solver])


@dataclass(frozen=True)
class OptimalTransport:
    """The assignment that `make_optimal_transport` makes. A class, so that a pipeline
    with it can be sent to another process."""

    k: int
    tau: float
    null_cost: str
    normalise: str
    solve: Solve

    def __call__(self, candidates: Candidates) -> numpy.ndarray:
        """The number of a target for each slot, or -1."""
        n_targets = len(candidates.targets)
        if n_targets > candidates.slots:
            return assign_one_each(candidates)
        scores = transport_scores(candidates)
        shares = transport_shares(scores, self.tau, self.normalise)
        supplies = transport_supplies(shares, n_targets, self.k)
        cost = -shares
        if self.null_cost == "zero":
            cost[n_targets:] = 0
        rows = self.solve(cost, supplies)
        return numpy.where(rows < n_targets, rows, NONE)


def transport_scores(candidates: Candidates) -> numpy.ndarray:
    """The sum of the probabilities of each row, padding included: of the targets, and
    of the null row where there are fewer targets than slots. Float of shape (rows,
    slots)."""
    scores: numpy.ndarray = candidates.targets.sum(axis=2)
    if len(scores) == candidates.slots:
        return scores
    return numpy.vstack([scores, candidates.null.sum(axis=1)[None]])


def transport_shares(
    scores: numpy.ndarray, tau: float, normalise: str = "slots"
) -> numpy.ndarray:
    """The share of each row in each slot, float of shape (rows, slots)."""
    powers = numpy.maximum(scores, 1e-30) ** (1 / tau)
    axis = 0 if normalise == "slots" else 1
    shares: numpy.ndarray = powers / powers.sum(axis=axis, keepdims=True)
    return shares


def transport_supplies(shares: numpy.ndarray, n_targets: int, k: int) -> numpy.ndarray:
    """How many slots each row has, int of shape (rows,): what the greatest k shares of
    a target add up to, rounded up; what is left for the null row."""
    n_rows, n_slots = shares.shape
    if n_targets == n_slots:
        return numpy.ones(n_rows, dtype=int)
    sums = numpy.sort(shares[:n_targets], axis=1)[:, -k:].sum(axis=1)
    supplies = numpy.ceil(sums).astype(int)
    # Where that is more than there are, those that were rounded up most give back
    # first, but for their last one.
    order = numpy.argsort(-(supplies - sums), kind="stable")
    while supplies.sum() > n_slots:
        for row in order[supplies[order] > 1]:
            if supplies.sum() > n_slots:
                supplies[row] -= 1
    return numpy.append(supplies, n_slots - supplies.sum())


def solve_exactly(cost: numpy.ndarray, supplies: numpy.ndarray) -> numpy.ndarray:
    """The row of each slot in the cheapest plan, by the Hungarian algorithm on rows
    that are repeated.

    cost (ndarray): Float of shape (rows, slots).
    supplies (ndarray): How many slots a row has, int of shape (rows,).
    RETURNS (ndarray): Int of shape (slots,).
    """
    rows = numpy.repeat(numpy.arange(len(supplies)), supplies)
    taken, slots = _match(cost[rows])
    of_slots = numpy.empty(len(slots), dtype=int)
    of_slots[slots] = rows[taken]
    return of_slots


def solve_with_pot(cost: numpy.ndarray, supplies: numpy.ndarray) -> numpy.ndarray:
    """As `solve_exactly`, by the network simplex of POT."""
    demands = numpy.ones(cost.shape[1])
    plan = _import_pot().emd(supplies.astype(float), demands, cost)
    return _most(plan)


def solve_by_sinkhorn(
    cost: numpy.ndarray, supplies: numpy.ndarray, epsilon: float, iterations: int
) -> numpy.ndarray:
    """As `solve_exactly`, but for a plan that is smooth: a slot has the row that has
    most of it."""
    plan = _import_pot().bregman.sinkhorn_log(
        # A supply of 0 has no logarithm.
        supplies + 1e-8,
        numpy.ones(cost.shape[1]),
        cost,
        epsilon,
        numItermax=iterations,
        stopThr=0,
        warn=False,
    )
    return _most(plan)


def _most(plan: numpy.ndarray) -> numpy.ndarray:
    of_slots: numpy.ndarray = numpy.argmax(plan, axis=0)
    return of_slots


# Both are imported where they are first needed: a trained pipeline loads without them.
def _match(cost: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """The Hungarian algorithm: the cheapest pairs of rows and columns."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError as error:
        raise ImportError(
            "The assignment of targets to slots needs scipy: "
            f'pip install "spacy-keyphrase[train]" ({error})'
        ) from error
    pairs: Tuple[numpy.ndarray, numpy.ndarray] = linear_sum_assignment(cost)
    return pairs


def _import_pot() -> Any:
    try:
        import ot
    except ImportError as error:
        raise ImportError(
            "The solvers 'pot' and 'sinkhorn' need POT: pip install POT; 'exact' does "
            f"without ({error})."
        ) from error
    return ot
