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
    InvalidInput,
    Joining,
    Judges,
    Live,
    MembersElimination,
    NotSupported,
    Ordinal,
    PanelElimination,
    Power,
    RecusalElimination,
    simulate,
)
from affinity_bandits.base import digests
from affinity_bandits.policies import ListedSchedule, RoundPolicy
from affinity_bandits.simulation import rounds
from affinity_bandits.simulation.engines import RoundEngine
from affinity_bandits.simulation.environment import Seating, seat_judges
from affinity_bandits.theory import lower_bound
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


@pytest.mark.parametrize(
    ("joining", "judges", "reason"),
    [
        (Joining(0.5), "committee", "joins at once"),
        (Joining(above=0.5), "recused", "every single score"),
        (Joining(leaving=0.1), "recused", "who is left"),
    ],
)
def test_rounds_that_cannot_be_drawn_at_once_are_played_by_steps_and_say_why(
    joining: Joining, judges: str, reason: str
) -> None:
    bandit = AffinityBandit([0.4, 0.6], joining=joining, judges=judges)
    with pytest.raises(NotSupported, match=reason):
        simulate(bandit, "uniform", 20, 1, engine="rounds", progress=False)
    result = simulate(bandit, "uniform", 20, 1, progress=False)
    assert [row.engine for row in result.summary()] == ["steps"]


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


@pytest.mark.parametrize("policy", [CASES["told"][2], CASES["panel"][2]])
def test_in_a_loop_of_ones_own_the_judges_are_told_first(policy: RoundPolicy) -> None:
    live = Live(policy, 2, 100)
    with pytest.raises(InvalidInput, match="before the first pull of a round"):
        live.ask()
    for wrong in ([3], [3, -1], "ab"):
        with pytest.raises(InvalidInput, match="judges"):
            live.meet(wrong)  # type: ignore[arg-type]
    live.meet([3, 1])
    assert not live.awaits_judges
    with pytest.raises(InvalidInput, match="told once"):
        live.meet([3, 1])
    arm = live.ask()
    live = Live.from_json(policy, live.to_json())
    assert live.ask() == arm
    live.tell(arm, 0.5)
    assert not live.awaits_judges


def test_the_leader_is_to_have_the_fewest_seats() -> None:
    live = Live(CASES["panel"][2], 2, 100)
    assert live.fewest_seats is None
    for _ in range(4):
        for arm in range(2):
            if live.awaits_judges:
                live.meet([1, 1])
            live.tell(live.ask(), float(arm))
    assert live.awaits_judges
    assert live.fewest_seats == 1


@pytest.mark.parametrize(
    ("parameter", "setting"),
    [
        ("joining.part", {"joining": 1.5}),
        ("joining.when", {"joining": {"when": "later"}}),
        ("joining.leaving", {"joining": {"leaving": -1}}),
        ("joining", {"joining": "some"}),
        ("parameter of joining", {"joining": {"parts": 1}}),
        ("judges.who", {"judges": "nobody"}),
        ("judges.seats", {"judges": "panel"}),
        ("judges.seats", {"judges": {"who": "panel", "seats": 1}}),
        ("judges.seats", {"judges": {"who": "recused", "seats": 3}}),
        ("judges", {"judges": 3}),
        ("memory", {"judges": "recused", "memory": 5}),
    ],
)
def test_a_committee_that_cannot_be_is_refused(parameter: str, setting: dict[str, object]) -> None:
    with pytest.raises((InvalidInput, NotSupported), match=parameter):
        AffinityBandit([0.4, 0.6], **setting)  # type: ignore[arg-type]


def test_descriptions_come_back_and_are_as_before_where_nothing_is_said() -> None:
    bandit = bandit_of("panel")
    assert AffinityBandit.from_json(bandit.to_json()) == bandit
    assert {"joining", "judges"}.isdisjoint(AffinityBandit([0.4, 0.6]).to_json())


def test_what_the_papers_theorems_do_not_cover_is_refused() -> None:
    with pytest.raises(NotSupported, match="joining and judges"):
        lower_bound(AffinityBandit([0.4, 0.6], joining=0.5, noise="gaussian"), 1000)


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
