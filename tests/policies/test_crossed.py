"""Crossed blocks: twin, exact wealth against adversaries, refusals, use by hand."""

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
    CrossedElimination,
    InvalidInput,
    NeutralElimination,
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
    groups=st.integers(2, 4),
    favor_gap=st.sampled_from([0.0, 0.05, 0.5]),
    target=st.sampled_from([None, 60, 400]),
    failure=st.sampled_from([0.05, 0.4]),
    seed=st.integers(0, 2**32),
)
def test_it_agrees_with_a_literal_implementation(
    groups: int, favor_gap: float, target: int | None, failure: float, seed: int
) -> None:
    """Every block, every drop, and the evidence at the end, on scores of five levels."""
    policy = CrossedElimination(favor_gap=favor_gap, failure=failure, target=target)
    blocks = Blocks(policy, groups, seed)
    twin = NaiveBlocks(groups, failure, target=target or 0, favor_gap=favor_gap)
    rng = np.random.default_rng(seed)
    means = rng.random(groups)
    for _ in range(100):
        block, asked = blocks.ask(), twin.asked()
        if block is None or asked is None:
            assert block is asked is None
            break
        assert (block.rater, sorted(block.groups)) == asked
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


Values = dict[float, float]
"""The largest mean wealth for each amount by which raters may still favor the leader in a pass."""


def mean_wealth(
    state: BlockState, blocks: int, favor_gap: float, raters: tuple[float, ...]
) -> Values:
    """Return the largest mean wealth against group 0 that an adversary reaches, of two groups.

    Scores are 0 or 1. The adversary knows all scores so far. For each block it picks how generous
    the rater is, how much the rater favors the leader (`raters`), and whether the two scores are
    independent, equal whenever they can be, or opposite. Over a pass, raters favor the leader by at
    most `favor_gap` together; values are those for what is left of it.
    """
    passes = int(state.kind[0]) == 0
    if blocks == 0 or state.bets.left[0] == 1:
        worth = math.exp(log_worth(state.bets, 0))
        return {favor_gap - favor: worth for favor in raters} | {favor_gap: worth}
    after: dict[tuple[int, int], Values] = {}
    leader = int(state.bets.leader[0])
    for pair in itertools.product((0, 1), repeat=2):
        copy = copy_state(state)
        scores = np.zeros(2)
        scores[leader], scores[1 - leader] = pair
        take_block(copy, scores)
        after[pair] = mean_wealth(copy, blocks - 1, favor_gap, raters)
    found: Values = {}
    for room in (favor_gap,) if passes else [favor_gap - favor for favor in raters]:
        for favor in raters:
            if not passes and favor > room + 1e-12:
                continue
            later = favor_gap - favor if passes else favor_gap
            for middle in (0.5, 0.8):
                low, high = middle + favor / 2.0, middle - favor / 2.0
                if not 0.0 <= min(low, high) <= max(low, high) <= 1.0:
                    continue
                for joint in (low * high, min(low, high), max(0.0, low + high - 1.0)):
                    law = {(1, 1): joint, (1, 0): low - joint, (0, 1): high - joint}
                    law[0, 0] = 1.0 - low - high + joint
                    mean = sum(part * after[pair][later] for pair, part in law.items())
                    found[room] = max(found.get(room, 0.0), mean)
    return found


def begun(policy: CrossedElimination, passes: int) -> BlockState:
    """Return a state in which group 1 leads and group 0, the best, is behind, with some wealth."""
    blocks = Blocks(policy, 2)
    while blocks.state.bets.passes[0] < passes:
        block = blocks.ask()
        assert block is not None
        blocks.tell([float(group) for group in block.groups])
    assert blocks.state.bets.leader[0] == 1
    return copy_state(blocks.state)


@pytest.mark.parametrize("target", [None, 30])
@pytest.mark.parametrize("favor_gap", [0.0, 0.2])
@pytest.mark.parametrize("passes", [4, 6])
def test_no_adversary_raises_the_mean_wealth_against_the_best_group(
    favor_gap: float, passes: int, target: int | None
) -> None:
    """Exact: every path of three passes, with the adversary's best reply at each block.

    In half of a pass the mean may be larger, as raters of one group may favor the leader more. If
    raters favor it by more in a whole pass than was stated, the same sum is larger: the control.
    """
    policy = CrossedElimination(favor_gap=favor_gap, failure=1e-4, target=target)
    state = begun(policy, passes)
    worth = math.exp(log_worth(state.bets, 0))
    favors = tuple(sorted({favor_gap, favor_gap / 2.0, 0.0, -0.3, favor_gap + 0.3}))
    found = mean_wealth(state, 6, favor_gap, favors)[favor_gap]
    assert found <= worth * (1.0 + 1e-9)
    assert found > 0.95 * worth
    more = favor_gap + 0.1
    assert mean_wealth(state, 6, more, (more / 2.0,))[more] > 1.005 * worth


def play(blocks: Blocks, score: Callable[[int], float], times: int) -> None:
    for _ in range(times):
        block = blocks.ask()
        if block is not None:
            blocks.tell([score(group) for group in block.groups])


@pytest.mark.parametrize("wrong", [None, -0.1, 1.0, 5, "0.1", float("nan"), True])
def test_a_gap_that_is_missing_or_impossible_is_refused_with_an_example(wrong: object) -> None:
    words = r"favor_gap must be a number in \[0, 1\).*such as 0.4 / 4 for 0.4 points on a scale"
    with pytest.raises(InvalidInput, match=words):
        CrossedElimination(favor_gap=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=words):
        CrossedElimination()


@pytest.mark.parametrize("policy", CrossedElimination.examples(), ids=str)
def test_it_is_a_description_like_every_policy(policy: CrossedElimination) -> None:
    assert isinstance(policy, Policy)
    assert CrossedElimination.from_json(policy.to_json()) == policy
    assert policy.assumes.bounded


def test_the_hidden_lead_is_told_before_the_first_block() -> None:
    policy = CrossedElimination(favor_gap=0.1)
    blocks = Blocks(policy, 2, scale=(5, 1))
    assert blocks.hidden_lead == pytest.approx(0.2)
    assert repr(blocks).endswith("0 scores, groups left: 0, 1; leads up to 0.2 may be favor)")
    assert Blocks(policy, 4, scale=(1, 5)).hidden_lead == pytest.approx(0.1)
    assert Blocks(NeutralElimination(), 3).hidden_lead == 0.0


@pytest.mark.parametrize(("lead", "found"), [(0.09, False), (0.11, True)])
def test_only_a_lead_that_favors_cannot_explain_is_found(lead: float, found: bool) -> None:
    """Scores without noise: a gap of .2 explains a lead of .1 of two groups."""
    blocks = Blocks(CrossedElimination(favor_gap=0.2), 2)
    play(blocks, lambda group: 0.5 + lead * group, 2_000)
    assert (blocks.candidates() == (1,)) is found


def test_half_a_pass_is_no_evidence() -> None:
    """Favor may show in one block; that of the other group balances it only in the next one."""
    blocks = Blocks(CrossedElimination(favor_gap=0.0), 2)
    play(blocks, lambda group: 0.5 + 0.2 * group, 20)
    before = blocks.evidence()
    play(blocks, float, 1)
    assert blocks.evidence() == before
    play(blocks, float, 1)
    assert blocks.evidence() != before


def test_raters_of_every_group_score_all_groups_also_after_a_drop() -> None:
    blocks = Blocks(CrossedElimination(favor_gap=0.1), 3)
    raters: list[int | None] = []
    left = 3
    for _ in range(300):
        block = blocks.ask()
        if block is None:
            break
        assert sorted(block.groups) == list(blocks.candidates())
        raters.append(block.rater)
        blocks.tell([(0.0, 0.6, 0.75)[group] for group in block.groups])
        if len(blocks.candidates()) < left:
            left = len(blocks.candidates())
            assert len(raters) % 3 == 0  # only whole passes count
    assert blocks.candidates() == (2,)
    assert raters == [0, 1, 2] * (len(raters) // 3)


def test_a_saved_run_goes_on_to_the_bit() -> None:
    policy = CrossedElimination(favor_gap=0.05, target=300)
    first = Blocks(policy, 3, seed=5, scale=(6, 1))
    play(first, lambda group: 1.0 + group, 30)
    first.ask()
    second = Blocks.from_json(policy, first.to_json())
    assert second.ask() == first.ask()
    for blocks in (first, second):
        play(blocks, lambda group: 2.0 + 0.5 * group, 40)
    assert first.to_json() == second.to_json()
    with pytest.raises(StateMismatch, match="was saved by"):
        Blocks.from_json(CrossedElimination(favor_gap=0.1, target=300), first.to_json())


@pytest.mark.slow
def test_compiled_and_plain_kernels_agree_to_the_bit() -> None:
    policy = CrossedElimination(favor_gap=0.1, target=200)
    plain, compiled = policy.start(3, 1), policy.start(3, 1)
    loop = compile_kernel(take_block, inlined=False)
    rng = np.random.default_rng(2)
    for _ in range(300):
        scores = np.rint(4 * rng.random(3)) / 4
        take_block(plain, scores)
        loop(cacheable(compiled), scores)
    assert json.dumps(policy.save(plain, 3, 1)) == json.dumps(policy.save(compiled, 3, 1))
