"""Who joins and who judges: rounds have the law of steps, and what is no committee is refused.

The environment itself is compared with its twin, pull for pull, in tests/contracts/test_twins.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Elimination,
    Environment,
    Gaussian,
    Joining,
    Judges,
    MembersElimination,
    NotSupported,
    Ordinal,
    PanelElimination,
    Power,
    RecusalElimination,
    simulate,
)
from affinity_bandits.base import digests
from affinity_bandits.policies import ListedSchedule
from affinity_bandits.simulation import rounds
from affinity_bandits.simulation.engines import RoundEngine
from affinity_bandits.simulation.environment import Seating, seat_judges
from tests.support.simulation_helpers import (
    SMALLEST_P,
    outcomes_by_rounds,
    outcomes_by_steps,
    smallest_p,
)

REPLICATES = 2000
HORIZON = 400
DROPS = Elimination(ListedSchedule([(10, 0.12), (40, 0.06), (60, 0.03)]))
PANEL = Judges("panel", seats=7, seating="in proportion")
CASES = {
    "panel": (PANEL, Joining(0.3), PanelElimination(sigma=0.3, failure=0.4)),
    "recused": ("recused", Joining(0.3), RecusalElimination(sigma=0.3)),
    "next round": ("committee", Joining(0.3, when="next round"), DROPS),
    "told": ("committee", Joining(), MembersElimination(sigma=0.3, failure=0.4)),
}


def bandit_of(case: str, noise: object = "bernoulli") -> AffinityBandit:
    judges, joining, _ = CASES[case]
    # A weight that is not 0 where nobody judges.
    return AffinityBandit(
        [0.5, 0.62, 0.55],
        bias="sigmoid",
        initial_pulls=[9, 3, 1],
        noise=noise,  # type: ignore[arg-type]
        joining=joining,
        judges=judges,  # type: ignore[arg-type]
    )


@pytest.mark.nightly_but("bernoulli")
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["bernoulli", Gaussian(0.3)], ids=["bernoulli", "gaussian"])
@pytest.mark.parametrize("case", CASES)
def test_rounds_have_the_law_of_steps(case: str, noise: object) -> None:
    """With 2,000 replicates the KS test at 1e-7 sees distributions that differ by 0.13."""
    bandit, policy = bandit_of(case, noise), CASES[case][2]
    by_steps = outcomes_by_steps(bandit, policy, HORIZON, REPLICATES, seed=11)
    by_rounds = outcomes_by_rounds(bandit, policy, HORIZON, REPLICATES, seed=12)
    assert smallest_p(by_steps, by_rounds) > SMALLEST_P


@pytest.mark.slow
def test_counts_of_scores_judged_by_a_panel_have_the_law_of_steps() -> None:
    bandit = bandit_of("panel", Ordinal(5))
    policy = PanelElimination(bounded=True, failure=0.4)
    by_steps = outcomes_by_steps(bandit, policy, HORIZON, REPLICATES, seed=11)
    by_rounds = outcomes_by_rounds(bandit, policy, HORIZON, REPLICATES, seed=12)
    assert smallest_p(by_steps, by_rounds) > SMALLEST_P


def empty_first_seat(
    seating: Seating, members: np.ndarray, judges: np.ndarray, fewest: int
) -> None:
    """Seat everybody but those of the first arm."""
    seat_judges(seating, members, judges, fewest)
    judges[len(members)] -= judges[0]
    judges[0] = 0


@pytest.mark.slow
def test_seats_that_are_left_empty_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control of the comparisons above."""
    bandit, policy = bandit_of("panel"), CASES["panel"][2]
    by_steps = outcomes_by_steps(bandit, policy, HORIZON, REPLICATES, seed=11)
    monkeypatch.setattr(rounds, "seat_judges", empty_first_seat)
    digests._package_digest.cache_clear()  # the package's own code is read once per process
    planted = outcomes_by_rounds(bandit, policy, HORIZON, REPLICATES, seed=12)
    digests._package_digest.cache_clear()
    assert smallest_p(by_steps, planted) < SMALLEST_P


def test_a_committee_that_all_join_is_that_of_the_paper() -> None:
    """Told who sits, a run is the same to the bit as one that counts pulls."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[9, 4])
    counted = Environment(bandit, seed=3)
    told = Environment(
        AffinityBandit(**vars(bandit) | {"joining": Joining(leaving=1e-300)}), seed=3
    )
    for pull in range(300):
        assert counted.pull(pull % 2) == told.pull(pull % 2)
        assert counted.shares().tolist() == told.shares().tolist()


def test_policies_cannot_be_told_who_judges_where_memory_is_bounded() -> None:
    bandit = AffinityBandit([0.4, 0.6], memory=5)
    with pytest.raises(NotSupported, match="memory"):
        simulate(bandit, CASES["told"][2], 100, 1, progress=False)


def test_replicates_do_not_depend_on_how_they_are_grouped() -> None:
    bandit, policy = bandit_of("panel"), CASES["panel"][2]
    engine = RoundEngine(bandit, policy, HORIZON, 1, np.array([HORIZON]))
    together, candidates = np.zeros((5, 1, 3), dtype=np.int64), np.zeros((5, 4), dtype=np.int64)
    engine.run(0, together, candidates, lambda _: None)
    alone, candidate = np.zeros((1, 1, 3), dtype=np.int64), np.zeros((1, 4), dtype=np.int64)
    engine.run(3, alone, candidate, lambda _: None)
    assert np.array_equal(alone[0], together[3])
