"""Bets on differences within a block: one rater scores a candidate of each of several groups.

Strictness and use of the scale are those of one rater, so they cannot favor a group. Subclasses of
`BlockElimination` say who rates, so that favor for one's own group cannot do so either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel
from affinity_bandits.policies.betting import MEANING, BettingElimination
from affinity_bandits.policies.blocks import NO_HORIZON, BlockKernels, BlockPolicy, BlockRound
from affinity_bandits.policies.explaining import Evidence
from affinity_bandits.policies.leading import CLEARLY
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.wealth import (
    LEAST_NOISE,
    MISSED,
    PRIOR_SCORES,
    PRIOR_VARIANCE,
    ROUNDS_PER_LEAD,
    SAFE_STAKE,
    BettingState,
    drop_beaten,
    log_worth,
    passes_to_come,
    return_to_prior,
    stake_that_wins,
)


class BlockState(NamedTuple):
    """Bets against each group, differences between all pairs, and the place in the round.

    A round has a number of passes. In each pass one rater of every kind that sits scores a block.
    Kind k is a person of group k; the last kind are outsiders.
    """

    bets: BettingState  # its pulls count scores
    outsiders: bool  # whether outsiders judge, and nobody else
    crossed: bool  # whether raters of all groups score all groups, their own too
    hidden_lead: float  # subtracted from how far the leader is ahead
    length: IntArray  # [0]: passes of this round
    done: IntArray  # [0]: finished passes of this round
    kind: IntArray  # [0]: of the rater of the next block; -1 once one group is left
    tried: IntArray  # per group: how many stakes are bet against it in this round
    aimed: FloatArray  # per group: this round's stake on the target
    won: FloatArray  # [group, stake], flat: change of log-wealth in this round so far
    blocks: FloatArray  # [a, b], flat: blocks with both, discounted by age
    ahead: FloatArray  # the same: by how much a was ahead of b in them
    squares: FloatArray  # the same: the squared differences


@kernel
def sits(state: BlockState, kind: int) -> bool:
    """Return whether a rater of that kind scores a block in each pass of this round.

    Of neutral raters, the leader's are neutral for no pair that is bet on.
    """
    groups = len(state.tried)
    if state.crossed:
        return kind < groups
    if state.outsiders:
        return kind == groups
    if kind == groups or kind == state.bets.leader[0]:
        return False
    others = state.bets.left[0]
    if state.bets.dropped_in[kind] == 0:
        others -= 1
    return bool(others >= 2)


@kernel
def next_kind(state: BlockState) -> int:
    """Return the kind of the next block's rater; -1 once one group is left."""
    return int(state.kind[0])


@kernel
def in_block(state: BlockState, kind: int, group: int) -> bool:
    """Return whether a rater of that kind scores a candidate of that group."""
    return bool(state.bets.dropped_in[group] == 0 and (state.crossed or group != kind))


@kernel
def draw_block(state: BlockState, order: IntArray, rng: np.random.Generator) -> int:
    """Put the groups of the next block in an order by lot; return how many they are."""
    size = 0
    for group in range(len(state.tried)):
        if in_block(state, state.kind[0], group):
            order[size] = group
            size += 1
    for place in range(size - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        order[place], order[other] = order[other], order[place]
    return size


@kernel
def variance_of_difference(state: BlockState, a: int, b: int) -> float:
    """Estimate the variance of the difference between two groups within a rater."""
    pair = a * len(state.tried) + b
    seen = 0.0
    if state.blocks[pair] > 0.0:
        seen = state.squares[pair] - state.ahead[pair] * state.ahead[pair] / state.blocks[pair]
    seen = max(seen, 0.0) + 2.0 * PRIOR_VARIANCE * PRIOR_SCORES
    return float(seen / (state.blocks[pair] + PRIOR_SCORES))


@kernel
def take_block(state: BlockState, scores: FloatArray) -> None:
    """Take in a whole block; `scores` has a place per group, read where the block has the group."""
    kind, groups, leader = state.kind[0], len(state.tried), state.bets.leader[0]
    for a in range(groups):
        if not in_block(state, kind, a):
            continue
        state.bets.pulls[a] += 1
        for b in range(groups):
            if b != a and in_block(state, kind, b):
                difference = scores[a] - scores[b]
                state.blocks[a * groups + b] += 1.0
                state.ahead[a * groups + b] += difference
                state.squares[a * groups + b] += difference * difference
        if leader >= 0 and a != leader:
            bet_on_difference(state, a, scores[leader] - scores[a])
    while True:
        state.kind[0] += 1
        if state.kind[0] > groups:
            state.kind[0] = 0
            state.done[0] += 1
            if state.done[0] == state.length[0]:
                close_blocks(state)
                return
        if sits(state, state.kind[0]):
            return


@kernel
def bet_on_difference(state: BlockState, group: int, difference: float) -> None:
    """Add up what the bets on the leader against a group win in one block.

    Wealth changes only after whole passes, over which favors may have to balance.
    """
    bets = state.bets
    at = group * len(bets.stakes)
    for place in range(1, state.tried[group]):
        stake = bets.stakes[place]
        if stake < 0.0:
            stake = state.aimed[group]
        stake = min(stake, SAFE_STAKE / (1.0 + state.hidden_lead))
        state.won[at + place] += math.log1p(stake * (difference - state.hidden_lead))


@kernel
def close_blocks(state: BlockState) -> None:
    """Drop the groups that are beaten, choose who leads, and open the next round."""
    bets = state.bets
    bets.passes[0] += state.length[0]
    bets.rounds[0] += 1
    led = bets.leader[0] >= 0
    if led:
        for place in range(len(state.won)):
            bets.log_wealth[place] += state.won[place]
            state.won[place] = 0.0
        drop_beaten(bets)
    if bets.left[0] > 1 and (not led or bets.rounds[0] % ROUNDS_PER_LEAD == 0):
        choose_leader(state)
    open_blocks(state)


@kernel
def choose_leader(state: BlockState) -> None:
    """Let the group lead that is clearly ahead of the leader; the first one is ahead of all."""
    bets, groups = state.bets, len(state.tried)
    leader, best, most = bets.leader[0], -1, 0.0
    for position in range(bets.left[0]):
        group = bets.active[position]
        lead = 0.0
        if leader >= 0:
            pair = group * groups + leader
            if group == leader or state.blocks[pair] == 0.0:
                continue
            lead = state.ahead[pair] / state.blocks[pair]
        else:
            for other in range(groups):
                if other != group:
                    lead += state.ahead[group * groups + other]
        if best < 0 or lead > most:
            best, most = group, lead
    if leader >= 0:
        if best < 0:
            return
        noise = variance_of_difference(state, best, leader) / state.blocks[best * groups + leader]
        clearly = CLEARLY * (1.0 + math.sqrt(2.0 * math.log(bets.left[0])))
        if most <= clearly * math.sqrt(noise):
            return
    bets.leader[0] = best
    for position in range(bets.left[0]):
        return_to_prior(bets, bets.active[position], 1.0)


@kernel
def open_blocks(state: BlockState) -> None:
    """Fix the passes and stakes of the next round, and who rates its first block."""
    bets, groups = state.bets, len(state.tried)
    state.kind[0] = -1
    if bets.left[0] == 1:
        return
    state.done[0] = 0
    state.length[0] = passes_to_come(bets)
    kept = bets.passes[0] / (bets.passes[0] + state.length[0])
    for pair in range(groups * groups):
        state.blocks[pair] *= kept
        state.ahead[pair] *= kept
        state.squares[pair] *= kept
    scores, kinds = 0, 0
    for kind in range(groups, -1, -1):
        if sits(state, kind):
            state.kind[0] = kind
            kinds += 1
            for group in range(groups):
                scores += in_block(state, kind, group)
    for group in range(groups):
        both = kinds
        if sits(state, group) and not in_block(state, group, group):
            both -= 1
        if bets.leader[0] >= 0 and group != bets.leader[0] and bets.dropped_in[group] == 0:
            fix_stakes(state, group, both, scores)


@kernel
def fix_stakes(state: BlockState, group: int, both: int, scores: int) -> None:
    """Decide which stakes are bet against a group in this round.

    Args:
        state: changed in place.
        group: against which the leader is bet on.
        both: blocks of a pass that have the leader and this group.
        scores: of a pass, in all blocks.
    """
    bets = state.bets
    variance = both * variance_of_difference(state, bets.leader[0], group)  # of a pass
    ahead = (bets.target - bets.pulls.sum()) / scores
    if ahead < state.length[0]:
        ahead = MISSED * bets.passes[0]
    state.aimed[group] = 0.0
    if bets.target > 0.0 and ahead >= state.length[0]:
        state.aimed[group] = stake_that_wins(bets, group, ahead * variance)
    # A difference has the noise of two scores.
    least = 2.0 * LEAST_NOISE / (variance * (bets.passes[0] + state.length[0]))
    state.tried[group] = 1
    for place in range(1, len(bets.stakes)):
        stake = bets.stakes[place]
        if stake >= 0.0 and stake * stake < least:
            return
        state.tried[group] = place + 1


@dataclass(frozen=True, kw_only=True)
class BlockElimination(BlockPolicy):
    """Bets on differences within blocks; subclasses say who rates.

    Args:
        failure: the probability that the best group is ever dropped.
        target: scores by which a decision is wanted; some of the bets then aim at it.
    """

    eliminates: ClassVar[bool] = True
    failure: float = 0.05
    target: int | None = None

    def __post_init__(self) -> None:
        self._check(checks.number, "failure", low=1e-300, high=1.0, open_high=True)
        self._check_optional(checks.integer, "target", low=1, high=10**15)

    def _start(
        self, arms: int, *, outsiders: bool = False, crossed: bool = False, hidden_lead: float = 0.0
    ) -> BlockState:
        """Return a fresh state in which these people judge."""
        bets = BettingElimination(bounded=True, failure=self.failure, target=self.target)
        started = bets.start(arms, NO_HORIZON)
        state = BlockState(
            bets=started,
            outsiders=outsiders,
            crossed=crossed,
            hidden_lead=hidden_lead,
            length=counts(1),
            done=counts(1),
            kind=counts(1),
            tried=counts(arms),
            aimed=reals(arms),
            won=reals(len(started.log_wealth)),
            blocks=reals(arms * arms),
            ahead=reals(arms * arms),
            squares=reals(arms * arms),
        )
        open_blocks(state)
        return state

    @staticmethod
    @kernel
    def candidate(state: BlockState, arm: int) -> bool:
        return bool(state.bets.dropped_in[arm] == 0)

    def kernels(self) -> BlockKernels:
        return BlockKernels(next_kind, draw_block, take_block, self.candidate)

    def counted(self, state: BlockState) -> int:
        """Return the number of scores."""
        return int(state.bets.pulls.sum())

    def round(self, state: BlockState) -> BlockRound | None:
        if state.kind[0] < 0:
            return None
        groups = len(state.tried)
        raters = tuple(kind for kind in range(groups + 1) if sits(state, kind))
        blocks = tuple(
            tuple(group for group in range(groups) if in_block(state, kind, group))
            for kind in raters
        )
        return BlockRound(raters, blocks, int(state.length[0]))

    def evidence(self, state: BlockState) -> Evidence:
        """Return the evidence against each group after the last finished round."""
        groups = range(len(state.tried))
        leader = int(state.bets.leader[0])
        return Evidence(
            against=tuple(log_worth(state.bets, group) for group in groups),
            needed=-math.log(self.failure),
            leader=leader if leader >= 0 else None,
            meaning=MEANING,
        )
