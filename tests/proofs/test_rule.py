"""The rule that is proven makes the same plans and drops the same groups as the policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.policies import HeadStartElimination, PanelElimination, RecusalElimination
from affinity_bandits.policies.betting import NODES, BettingState, ParallelBettingElimination
from affinity_bandits.policies.wealth import log_worth
from tests.proofs.following import NEAR, Comparison, Follower, Scores, build, compare, need_ocaml

pytestmark = [pytest.mark.slow, pytest.mark.long]
LAST = len(NODES) - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_ocaml()
    return build(tmp_path_factory.mktemp("rule"))


def tallies_at(nodes: list[int], repetitions: int) -> np.ndarray:
    """Return tallies of a round in which each planned group's scores are all at one node."""
    tallies = np.zeros((len(nodes), len(NODES)), dtype=np.int64)
    tallies[range(len(nodes)), nodes] = repetitions
    return tallies


def drawn(policy: ParallelBettingElimination, arms: int, random: np.random.Generator) -> Scores:
    """Independent scores; each group has a law of its own on the nodes."""
    laws = random.dirichlet(np.full(len(NODES), random.choice([0.05, 0.3, 2.0])), arms)

    def scores(_: BettingState, planned: list[int], repetitions: int, __: int) -> np.ndarray:
        return np.array([random.multinomial(repetitions, laws[arm]) for arm in planned])

    return scores


def tied(policy: ParallelBettingElimination, arms: int, random: np.random.Generator) -> Scores:
    """All groups have the same score all the time, so that every comparison is a tie."""
    node = int(random.integers(len(NODES)))
    return lambda _, planned, repetitions, __: tallies_at([node] * len(planned), repetitions)


def turning(policy: ParallelBettingElimination, arms: int, random: np.random.Generator) -> Scores:
    """Another group is the only good one every few rounds, so that leaders change."""
    every = int(random.integers(2, 12))

    def scores(_: BettingState, planned: list[int], repetitions: int, number: int) -> np.ndarray:
        good = number // every % arms
        return tallies_at([LAST if arm == good else 0 for arm in planned], repetitions)

    return scores


def against_leader(
    policy: ParallelBettingElimination, arms: int, random: np.random.Generator
) -> Scores:
    """The leader loses every comparison."""

    def scores(
        state: BettingState, planned: list[int], repetitions: int, number: int
    ) -> np.ndarray:
        return tallies_at(
            [0 if arm == int(state.leader[0]) else LAST for arm in planned], repetitions
        )

    return scores


def to_threshold(
    policy: ParallelBettingElimination, arms: int, random: np.random.Generator
) -> Scores:
    """Wealth is led as near to the threshold as scores of one node per group can."""

    def distance(state: BettingState, tallies: np.ndarray) -> float:
        after = policy.absorbed(state, tallies.astype(np.float64).ravel())
        return min(abs(log_worth(after, arm) - after.log_threshold) for arm in range(arms))

    def scores(state: BettingState, planned: list[int], repetitions: int, _: int) -> np.ndarray:
        tried = [
            tallies_at(random.integers(0, len(NODES), len(planned)).tolist(), repetitions)
            for _ in range(6)
        ]
        leader = int(state.leader[0])
        tried.append(tallies_at([LAST if arm == leader else 0 for arm in planned], repetitions))
        return min(tried, key=lambda one: distance(state, one))

    return scores


KINDS = (drawn, tied, turning, against_leader, to_threshold)


def histories(
    count: int, seed: int
) -> Iterator[tuple[ParallelBettingElimination, int, Scores, int]]:
    """Return policies, numbers of groups, adversaries and lengths."""
    random = np.random.default_rng(seed)
    for number in range(count):
        arms = int(random.integers(2, 6))
        failure = float(random.choice([0.9, 0.5, 0.2, 0.05, 0.001]))
        in_flight = int(random.choice([1, 1, 2, 3, 9]))
        policy: ParallelBettingElimination
        if number % 4 == 0:
            kind = PanelElimination if number % 8 == 0 else RecusalElimination
            policy = kind(bounded=True, failure=failure, in_flight=in_flight)
        else:
            fewest = random.integers(0, random.choice([1, 4, 60]), arms)
            most = fewest + random.integers(0, random.choice([1, 3, 60]), arms)
            policy = HeadStartElimination(
                initial_pulls=[[int(a), int(b)] for a, b in zip(fewest, most, strict=True)],
                bounded=True,
                failure=failure,
                in_flight=in_flight,
            )
        # Fractions grow with every score, so most histories are short.
        rounds = 70 if number % 50 == 0 else 25
        yield policy, arms, KINDS[number % len(KINDS)](policy, arms, random), rounds


def compare_all(program: Path, count: int, seed: int) -> Comparison:
    follower, found = Follower(program), Comparison()
    random = np.random.default_rng(seed)
    try:
        for policy, arms, scores, rounds in histories(count, seed):
            compare(policy, arms, scores, follower, found, rounds=rounds, random=random)
    finally:
        follower.close()
    print(found)
    return found


def agree(found: Comparison) -> bool:
    return not found.differences and found.widest < NEAR


@pytest.mark.parametrize(
    "count", [300, pytest.param(4000, marks=pytest.mark.nightly)], ids=["some", "thousands"]
)
def test_the_policy_follows_the_proven_rule(program: Path, count: int) -> None:
    found = compare_all(program, count, seed=count)
    assert not found.differences, f"{found}\n" + "\n".join(found.differences[:5])
    assert found.widest < NEAR
    assert found.histories == count
    # The comparison is worth something only if groups were dropped and leaders changed.
    assert found.drops > count / 5
    assert found.leaders > count
    assert found.near < count / 10


@pytest.mark.parametrize(
    ("planted", "instead"),
    [
        ("window cf / 2 + 1", "window cf / 2"),
        ("part_returned : Q := 2 # 100", "part_returned : Q := 3 # 100"),
        ("least_noise : Q := 3 # 100", "least_noise : Q := 4 # 100"),
        ("first_part : nat := 12", "first_part : nat := 11"),
        ("seats_of st j <=? seats_of st i", "seats_of st i <=? seats_of st j"),
    ],
    ids=["head start", "returned wealth", "smallest stake", "first round", "seats"],
)
def test_a_changed_constant_is_noticed(planted: str, instead: str, tmp_path: Path) -> None:
    need_ocaml()
    found = compare_all(build(tmp_path, (planted, instead)), 60, seed=7)
    assert not agree(found)
