"""Neutral blocks: twin, exact wealth against adversaries, refusals, use by hand."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import (
    Blocks,
    InvalidInput,
    NeutralElimination,
    NotSupported,
    StateMismatch,
)
from affinity_bandits.kernels.compile import cacheable, compile_kernel
from affinity_bandits.policies import Policy
from affinity_bandits.policies.block_bets import BlockState, take_block
from affinity_bandits.policies.state import copy_state
from affinity_bandits.policies.wealth import log_worth
from tests.support.naive.blocks import NaiveBlocks


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(
    groups=st.integers(2, 5),
    outsiders=st.booleans(),
    target=st.sampled_from([None, 60, 400]),
    failure=st.sampled_from([0.05, 0.4]),
    seed=st.integers(0, 2**32),
)
def test_it_agrees_with_a_literal_implementation(
    groups: int, outsiders: bool, target: int | None, failure: float, seed: int
) -> None:
    """Every block, every drop, and the evidence at the end, on scores of five levels."""
    outsiders = outsiders or groups == 2
    policy = NeutralElimination(failure=failure, outsiders=outsiders, target=target)
    blocks = Blocks(policy, groups, seed)
    twin = NaiveBlocks(groups, failure, outsiders=outsiders, target=target or 0)
    rng = np.random.default_rng(seed)
    means = rng.random(groups)
    for _ in range(100):
        block, asked = blocks.ask(), twin.asked()
        if block is None or asked is None:
            assert block is asked is None
            break
        kind = groups if block.rater is None else block.rater
        assert (kind, sorted(block.groups)) == asked
        scores = {
            group: float(np.clip(np.rint(4 * (means[group] + 0.3 * rng.normal())), 0, 4) / 4)
            for group in block.groups
        }
        blocks.tell([scores[group] for group in block.groups])
        twin.told(scores)
        assert list(blocks.candidates()) == twin.left
    for group in twin.left:
        worth = sum(twin.wealth[group].values())
        assert blocks.evidence().against[group] == pytest.approx(math.log(worth), abs=1e-9)


Raters = tuple[tuple[float, float], ...]
RATERS: Raters = ((0.5, 0.5), (0.9, 0.9), (0.2, 0.9), (0.0, 0.1))
"""Mean scores for the leader and for the best group: even, generous, fair, strict."""


def mean_wealth(state: BlockState, blocks: int, best: int, raters: Raters) -> float:
    """Return the largest mean wealth against the best group that an adversary reaches.

    Scores are 0 or 1. The adversary knows all scores so far and picks, for each block, the rater,
    and whether the two scores are independent, equal whenever they can be, or opposite.
    """
    if blocks == 0 or state.bets.dropped_in[best] or state.bets.left[0] == 1:
        return math.exp(log_worth(state.bets, best))
    leader = int(state.bets.leader[0])
    best_of_all = 0.0
    after: dict[tuple[int, int], float] = {}
    for pair in itertools.product((0, 1), repeat=2):
        copy = copy_state(state)
        scores = np.zeros(len(state.tried))
        scores[leader], scores[best] = pair
        take_block(copy, scores)
        after[pair] = mean_wealth(copy, blocks - 1, best, raters)
    for low, high in raters:
        both = [low * high, min(low, high), max(0.0, low + high - 1.0)]
        for joint in both:
            law = {(1, 1): joint, (1, 0): low - joint, (0, 1): high - joint}
            law[0, 0] = 1.0 - low - high + joint
            best_of_all = max(best_of_all, sum(law[pair] * after[pair] for pair in after))
    return best_of_all


def begun(policy: NeutralElimination, groups: int, passes: int) -> BlockState:
    """Return a state in which group 1 leads and group 0, the best, is behind, with some wealth."""
    blocks = Blocks(policy, groups)
    while blocks.state.bets.passes[0] < passes:
        block = blocks.ask()
        assert block is not None
        number = int(blocks.state.bets.pulls.sum())
        blocks.tell(
            [float(group == 1 or (group != 0 and number % 3 > 0)) for group in block.groups]
        )
    assert blocks.state.bets.leader[0] == 1
    return copy_state(blocks.state)


@pytest.mark.parametrize("target", [None, 30])
@pytest.mark.parametrize(("groups", "outsiders"), [(2, True), (3, False)])
@pytest.mark.parametrize("passes", [4, 6])
def test_no_adversary_raises_the_mean_wealth_against_the_best_group(
    groups: int, outsiders: bool, passes: int, target: int | None
) -> None:
    """Exact: every path of five blocks, with the adversary's best reply at each. With a taste of
    the raters for the leader the same sum is larger, so it can see a failure.
    """
    policy = NeutralElimination(failure=0.01, outsiders=outsiders, target=target)
    state = begun(policy, groups, passes)
    worth = math.exp(log_worth(state.bets, 0))
    found = mean_wealth(state, 5, 0, RATERS)
    assert found <= worth * (1.0 + 1e-9)
    assert found > 0.99 * worth  # even raters leave it as it is
    assert mean_wealth(state, 5, 0, ((0.6, 0.5),)) > 1.005 * worth


def play(blocks: Blocks, score: Callable[[int], float], times: int) -> None:
    for _ in range(times):
        block = blocks.ask()
        if block is not None:
            blocks.tell([score(group) for group in block.groups])


def test_two_groups_need_outsiders() -> None:
    with pytest.raises(NotSupported, match="unless outsiders judge"):
        Blocks(NeutralElimination(), 2)
    blocks = Blocks(NeutralElimination(outsiders=True), 2)
    play(blocks, lambda group: 0.75 if group == 1 else 0.25, 100)
    assert blocks.candidates() == (1,)
    assert blocks.ask() is None


def test_the_leaders_raters_sit_out_and_raters_of_dropped_groups_stay() -> None:
    blocks = Blocks(NeutralElimination(), 3)
    raters: list[set[int | None]] = [set(), set(), set()]
    for _ in range(200):
        block = blocks.ask()
        if block is None:
            break
        assert block.rater not in block.groups
        leader = blocks.evidence().leader
        raters[len(blocks.candidates()) - 1].add(block.rater)
        assert leader is None or block.rater != leader
        blocks.tell([(0.0, 0.6, 0.7)[group] for group in block.groups])
    assert blocks.candidates() == (2,)
    assert raters[1] == {0}  # the first was dropped; only its raters are neutral
    assert raters[2] == {0, 1, 2}


def test_the_order_within_a_block_is_drawn() -> None:
    """300 blocks of two: each order 150 times; 6 standard deviations are 52."""
    blocks = Blocks(NeutralElimination(failure=1e-9), 3, seed=3)
    ascending = 0
    for _ in range(300):
        block = blocks.ask()
        assert block is not None
        ascending += block.groups[0] < block.groups[1]
        blocks.tell([0.5, 0.5])
    assert abs(ascending - 150) < 52


def test_a_saved_run_goes_on_to_the_bit() -> None:
    policy = NeutralElimination(target=300)
    first = Blocks(policy, 4, seed=5, scale=(6, 1))
    play(first, lambda group: 1.0 + group, 30)
    first.ask()
    second = Blocks.from_json(policy, first.to_json())
    assert second.ask() == first.ask()
    for blocks in (first, second):
        play(blocks, lambda group: 2.0 + 0.5 * group, 40)
    assert first.to_json() == second.to_json()
    with pytest.raises(StateMismatch, match="was saved by"):
        Blocks.from_json(NeutralElimination(), first.to_json())
    data = json.loads(first.to_json())
    for pending in ([3, [0, 1]], [None, [0, 1, 2, 3]]):
        with pytest.raises(StateMismatch, match="not the next one"):
            Blocks.from_json(policy, json.dumps(data | {"pending": pending}))


@pytest.mark.parametrize("policy", NeutralElimination.examples(), ids=str)
def test_it_is_a_description_like_every_policy(policy: NeutralElimination) -> None:
    assert isinstance(policy, Policy)
    assert NeutralElimination.from_json(policy.to_json()) == policy
    assert policy.assumes.bounded
    with pytest.raises(InvalidInput, match="failure"):
        NeutralElimination(failure=0.0)
    with pytest.raises(InvalidInput, match="scale"):
        Blocks(policy, 3, scale="any")  # type: ignore[arg-type]


@pytest.mark.slow
def test_compiled_and_plain_kernels_agree_to_the_bit() -> None:
    policy = NeutralElimination(target=200)
    plain, compiled = policy.start(4, 1), policy.start(4, 1)
    loop = compile_kernel(take_block, inlined=False)
    rng = np.random.default_rng(2)
    for _ in range(300):
        scores = np.rint(4 * rng.random(4)) / 4
        take_block(plain, scores)
        loop(cacheable(compiled), scores)
    assert json.dumps(policy.save(plain, 4, 1)) == json.dumps(policy.save(compiled, 4, 1))
