"""`Live` takes only feedback that its policy assumes, and maps scores of another scale."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from affinity_bandits import (
    UCB1,
    AffinityBandit,
    Elimination,
    Gaussian,
    HeadStartElimination,
    Live,
    Power,
    ThompsonBeta,
    ThompsonGaussian,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput, StateMismatch
from affinity_bandits.model.feedback import ANYTHING, UNIT_INTERVAL
from affinity_bandits.policies import POLICIES, UCBV, EpsilonGreedy, Uniform
from affinity_bandits.policies.adapters import from_pymab
from tests.contracts.test_contracts import policy_examples

HEAD_START = HeadStartElimination(initial_lead=0, bounded=True, failure=0.05)
CHANCES = (0.3, 0.7)
MOST = 2_000


def star(rng: np.random.Generator, arm: int) -> int:
    """A score from 1 to 5."""
    return int(1 + rng.binomial(4, CHANCES[arm]))


def decide(seed: int, live: Live, score: Callable[[int], float]) -> tuple[int, ...]:
    """Return the candidates once one is left, or after MOST pulls."""
    rng = np.random.default_rng(seed)
    for _ in range(MOST):
        if len(live.candidates()) == 1:
            break
        arm = live.ask()
        live.tell(arm, score(star(rng, arm)))
    return live.candidates()


def test_stars_decide_if_they_are_mapped_and_are_refused_if_not() -> None:
    """Taken as they are, stars of 1 count as 1 and all others, too: no run of 50 decided."""
    for seed in range(50):
        by_hand = decide(seed, Live(HEAD_START, 2, MOST), lambda stars: (stars - 1) / 4)
        scaled = Live(HEAD_START, 2, MOST, scale=(1, 5))
        assert decide(seed, scaled, float) == by_hand == (1,)
        with pytest.raises(InvalidInput, match=r"feedback must be a number in \[0, 1\], unless"):
            decide(seed, Live(HEAD_START, 2, MOST), float)
    # The negative control: that nobody checks is what the fault was.
    assert decide(0, Live(HEAD_START, 2, MOST, scale="any"), float) == (0, 1)


def told(policy: Any, feedback: float, **settings: Any) -> Any:
    """Return the state of a run after its first feedback."""
    live = Live(policy, 2, 100, **settings)
    live.tell(live.ask(), feedback)
    return live.state


@pytest.mark.parametrize("wrong", [5.0, -3.0, 1.001, -0.001])
@pytest.mark.parametrize("policy", policy_examples(), ids=str)
def test_no_policy_takes_feedback_outside_its_interval_unasked(policy: Any, wrong: float) -> None:
    live = Live(policy, 3, 10_000)
    if live.awaits_judges:
        live.meet([4, 4, 4])
    arm = live.ask()
    before = live.to_json()
    with pytest.raises(InvalidInput) as refused:
        live.tell(arm, wrong)
    message = str(refused.value)
    assert message.startswith("feedback must be a number in [0, 1], unless")
    assert "scale=(1, 5)" in message
    assert f"({live.policy} assumes {live.policy.assumes.in_words})" in message
    assert message.endswith(f"got {wrong}")
    assert live.to_json() == before
    live.tell(arm, 1.0)


def test_an_interval_of_the_policys_own_counts() -> None:
    wide = UCBV(bound=3.0)
    assert told(wide, 3.0).sums[0] == 3.0
    assert told(wide, 5, scale=(1, 5)).sums[0] == 3.0
    assert told(wide, 2, scale=(1, 5)).sums[0] == 0.75
    with pytest.raises(InvalidInput, match=r"\[0, 3\]"):
        told(wide, 3.5)


@pytest.mark.parametrize(
    ("scale", "feedback", "mapped"),
    [
        ((1, 5), 1, 0.0),
        ((1, 5), 5, 1.0),
        ((1, 5), 4, 0.75),
        ((6, 1), 6, 0.0),  # of grades, 1 is the best
        ((6, 1), 1, 1.0),
        ((6, 1), 2, 0.8),
        ([-2.5, 2.5], 0, 0.5),
        ((0, 0.3), 0.1 + 0.2, 1.0),  # a rounding above its end
        (None, 0.4, 0.4),
        ("any", 5.0, 5.0),
        ("any", -3.0, -3.0),
    ],
)
def test_scores_are_mapped_from_the_worst_to_the_best(
    scale: Any, feedback: float, mapped: float
) -> None:
    for policy in (UCB1(), EpsilonGreedy(), Elimination()):
        state = told(policy, feedback, scale=scale)
        seen = state.seen if hasattr(state, "seen") else state.sums
        assert seen[0] == pytest.approx(mapped, abs=1e-15)


@pytest.mark.parametrize(
    ("scale", "feedback"), [((1, 5), 0), ((1, 5), 5.01), ((6, 1), 0.5), ((6, 1), 7)]
)
def test_a_score_outside_of_the_scale_is_refused(scale: Any, feedback: float) -> None:
    low, high = min(scale), max(scale)
    with pytest.raises(InvalidInput) as refused:
        told(UCB1(), feedback, scale=scale)
    assert str(refused.value) == (
        f"feedback must be a number in [{low}, {high}], got {float(feedback)}"
    )


@pytest.mark.parametrize(
    "scale",
    [
        *("stars", "1..5", 5, (1,), (1, 5, 3), (2, 2), (0, math.inf), ("1", "5"), {1: 5}),
        {6, 1},  # a set has no order, so nobody knows which end is the best
        (1e308, -1e308),
    ],
)
def test_what_is_no_scale_is_refused(scale: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^scale"):
        Live(UCB1(), 2, 100, scale=scale)


def test_coins_are_0_or_1() -> None:
    """Thompson sampling with Beta posteriors assumes them."""
    assert told(ThompsonBeta(), 1.0).successes[0] == 2.0
    assert told(ThompsonBeta(), 5, scale=(1, 5)).successes[0] == 2.0
    for wrong, settings, says in (
        (0.5, {}, "feedback must be 0 or 1, as thompson-beta assumes, got 0.5"),
        (3, {"scale": (1, 5)}, "feedback must be 1 or 5, as thompson-beta assumes, got 3.0"),
    ):
        with pytest.raises(InvalidInput) as refused:
            told(ThompsonBeta(), wrong, **settings)
        assert str(refused.value) == says
    assert told(ThompsonBeta(), 0.5, scale="any").successes[0] == 1.5


def test_feedback_without_bounds_needs_the_users_word() -> None:
    assert told(ThompsonGaussian(), -3.0, scale="any").sums[0] == -3.0
    with pytest.raises(InvalidInput, match=r", 'any' to take it as it is \(.* normal feedback"):
        told(ThompsonGaussian(), -3.0)
    with pytest.raises(InvalidInput) as refused:
        told(HEAD_START, -3.0)
    assert "'any'" not in str(refused.value)


def test_the_scale_is_saved_with_the_run() -> None:
    for scale in (None, (6, 1), "any"):
        live = Live(UCB1(), 2, 100, scale=scale)
        live.tell(live.ask(), 1)
        again = Live.from_json(UCB1(), live.to_json())
        assert again.scale == live.scale
        assert again.to_json() == live.to_json()
        again.tell(again.ask(), 1)
    saved = json.loads(live.to_json())
    del saved["scale"]
    with pytest.raises(StateMismatch, match="lacks 'scale'"):
        Live.from_json(UCB1(), json.dumps(saved))


class Greedy:
    """Of another package: it takes whatever it is told."""

    def __init__(self, n_arms: int) -> None:
        self.seen: list[float] = []

    def select_action(self, rng: np.random.Generator) -> int:
        return 0

    def update(self, action: int, reward: float) -> None:
        self.seen.append(reward)


def test_so_are_scores_for_policies_of_other_packages() -> None:
    with pytest.raises(InvalidInput, match=r"\[0, 1\], unless .*Greedy assumes any feedback"):
        told(from_pymab(Greedy), 5.0)
    told(from_pymab(Greedy), 5.0, scale=(1, 5))
    assert from_pymab(Greedy).assumes == ANYTHING
    bounded = from_pymab(Greedy, assumes=UNIT_INTERVAL)
    assert bounded.to_json() == from_pymab(Greedy).to_json()
    normal = AffinityBandit([0.4, 0.6], noise=Gaussian(1.0))
    coins = AffinityBandit([0.4, 0.6])
    found = {
        (bandit, policy): simulate(bandit, policy, 5, 1, progress=False).runs[0].caveat
        for bandit in (normal, coins)
        for policy in (from_pymab(Greedy), bounded)
    }
    assert "assumes feedback in [0, 1]" in found.pop((normal, bounded))
    assert set(found.values()) == {""}
    with pytest.raises(InvalidInput, match="assumes must be a Feedback"):
        from_pymab(Greedy, assumes=(0, 1))  # type: ignore[arg-type]


def test_rewards_of_the_gymnasium_environment_are_told_to_a_policy_or_refused() -> None:
    pytest.importorskip("gymnasium")
    from affinity_bandits.gym import AffinityEnv

    def play(bandit: AffinityBandit) -> None:
        env = AffinityEnv(bandit, horizon=50)
        env.reset(seed=1)
        live, over = Live(UCB1(), 2, 50), False
        while not over:
            arm = live.ask()
            _, reward, _, over, _ = env.step(arm)
            live.tell(arm, reward)

    play(AffinityBandit([0.5, 0.9], bias=Power(1.0)))
    with pytest.raises(InvalidInput, match=r"ucb1 assumes 0\.5-subGaussian feedback"):
        play(AffinityBandit([0.5, 0.9], bias=Power(1.0), noise=Gaussian(2.0)))


def test_every_policy_states_what_it_assumes() -> None:
    assert len(POLICIES) >= 25
    assert Uniform().assumes == ANYTHING
