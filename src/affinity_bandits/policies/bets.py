"""Bets of an elimination: what is seen of each arm, and the wealth that is bet against it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.tallies import seen_size

LARGEST_STAKE = 2.0
STAKES = 48
"""Stakes: 2, 2/sqrt(2), 1, ... Narrower steps gain nothing; the last is for 10**14 passes."""
USUAL_STAKE = 0.3
SPREAD_OF_STAKES = 0.7
"""The prior over the logarithm of stakes is normal, with this mean and standard deviation."""
LEAST_PRIOR = 0.03
"""Added to every stake's density, so that an unusual one is had as well, only later."""
FADING = 2.0**-0.25
"""The part of it that the next smaller stake has."""
LEAST_NOISE = 0.03
"""A stake is bet once chance alone moves the logarithm of its wealth by as much in all: before, it
is worth nothing yet."""
LOST = 100.0
"""Nor is one bet whose wealth is smaller than another's by so much, in logarithms."""
CASH = 0.02
"""The part of the wealth that is never staked until some of it returns to the prior."""
EXPECTED = 0.4
"""The prior of the stake that is best for an expected difference."""
SAFE_STAKE = 0.9
"""No stake loses more than this part of its wealth on one score."""
FORMER = 2.0
"""Scores that a mean and a variance are estimated with before any is seen."""
FORMER_MEAN, FORMER_VARIANCE = 0.5, 0.1
CAUTIOUS, LARGEST_VARIANCE = 4.0, 0.25
"""Scores, and their variance, that the stake of an expected difference begins with: too large a
stake loses more than one too small."""
WORTH = 10.0
"""By as much must chance be able to move a stake within the horizon."""
TRIED = 10.1
"""With a declared horizon, a stake is no longer given any wealth once chance alone could have moved
it by more: were it the right one, it would have won by now. Not 10, which whole numbers of passes
meet exactly, so that rounding would decide."""
LARGEST_LAG = 1e6
"""Standard deviations that no mean lags by."""


class BettingState(NamedTuple):
    """Who is active, who leads, what was seen, and the wealth of the bets against each arm."""

    nodes: FloatArray  # at which scores are counted; none if sums are told
    variance: float  # of one feedback; 0: feedback in [0, 1], whose variance is estimated
    log_threshold: float  # an arm is dropped once the logarithm of its wealth is as large
    horizon: float  # declared, if a mistake is to cost less the later it is made; else 0
    order: int  # members that answers out of order can take from an arm
    shortest: int  # passes of a round at least
    widest: int  # the largest head start there may have been
    expected: float  # the difference that is expected; 0 if none is
    stakes: FloatArray  # the first is 0: cash
    log_prior: FloatArray
    fewest: IntArray  # per arm: initial pulls at least
    most: IntArray  # per arm: initial pulls at most
    passes: IntArray  # [0]: finished
    doubled: IntArray  # [0]: passes when wealth last returned to the prior
    rounds: IntArray  # [0]: finished, of those in which all took part
    left: IntArray  # [0]: how many are active
    active: IntArray  # the active arms in the order of their turns, in the first `left` places
    dropped_in: IntArray  # per arm: the round (from 1) in which it was dropped, 0 if it is active
    leader: IntArray  # [0]: the arm that is bet on, -1 before the first round is over
    moving: IntArray  # [0]: how many arms are pulled alone, to put shares in order
    movers: IntArray  # those arms, in the first `moving` places
    moves: IntArray  # [0]: how often each of them
    pulls: IntArray  # per arm
    means: FloatArray  # per arm: its mean feedback over the passes it took part in
    recent: FloatArray  # [0]: passes, those of long ago for less
    sums: FloatArray  # per arm: feedback, weighted likewise
    squares: FloatArray  # per arm: squared feedback, weighted likewise
    log_wealth: FloatArray  # [arm, stake], flat
    tried: float = 0.0  # by as much has chance moved a stake that gets nothing more; 0: all get


def prior_stakes(
    sigma: float, expected: float | None, horizon: int | None
) -> tuple[list[float], list[float]]:
    """Return the stakes, of which the first is 0, and the part of the wealth that begins on each.

    Args:
        sigma: of subGaussian feedback; 0 if feedback lies in [0, 1].
        expected: the difference that is expected, if one is.
        horizon: if given, no stake is more usual than others, and those are left out that are too
            small to win anything before it.
    """
    # A stake is about a difference over twice the variance, of scores in [0, 1] at most 1/4.
    unit = 1.0 if sigma == 0.0 else 0.5 / sigma
    sizes = [LARGEST_STAKE * 2.0 ** (-place / 2) for place in range(STAKES)]
    if horizon is None:
        density = [
            LEAST_PRIOR * FADING**place
            + math.exp(-0.5 * (math.log(size / USUAL_STAKE) / SPREAD_OF_STAKES) ** 2)
            for place, size in enumerate(sizes)
        ]
    else:
        sizes = [size for size in sizes if size * size * LARGEST_VARIANCE * horizon >= WORTH]
        sizes = sizes or [LARGEST_STAKE]
        density = [1.0] * len(sizes)
    total = sum(density)
    stakes = [unit * size for size in sizes]
    prior = [(1.0 - CASH) * one / total for one in density]
    if expected is None:
        return [0.0, *stakes], [CASH, *prior]
    # The stake for an expected difference follows the variance that is seen: no number here.
    own = [(1.0 - EXPECTED) * one for one in (CASH, *prior)]
    return [0.0, -1.0, *stakes], [own[0], EXPECTED, *own[1:]]


def estimated_mean(state: BettingState, arm: int) -> float:
    """Return about what an arm's feedback was of late."""
    return float((state.sums[arm] + FORMER_MEAN * FORMER) / (state.recent[0] + FORMER))


def estimated_variance(
    state: BettingState, arm: int, former: float = FORMER, variance: float = FORMER_VARIANCE
) -> float:
    """Return the variance of an arm's feedback, or what is known of it.

    The estimate begins with `former` scores of a given variance.
    """
    if state.variance > 0.0:
        return state.variance
    seen = 0.0
    if state.recent[0] > 0.0:
        seen = state.squares[arm] - state.sums[arm] * state.sums[arm] / state.recent[0]
    return float((max(seen, 0.0) + variance * former) / (state.recent[0] + former))


def bet_on_leader(state: BettingState, passes: int, seen: FloatArray) -> None:
    """Settle the bets of a round; all that they depend on was known before it."""
    lead = place_of_leader(state)
    for position in range(state.left[0]):
        if position != lead:
            bet_against(state, position, lead, passes, seen)


def place_of_leader(state: BettingState) -> int:
    """Return the leader's place among the active arms."""
    lead = 0
    for position in range(state.left[0]):
        if state.active[position] == state.leader[0]:
            lead = position
    return lead


def bet_against(
    state: BettingState, position: int, lead: int, passes: int, seen: FloatArray
) -> None:
    """Settle a round's bets against the arm at a place on the leader, which is at `lead`."""
    size = seen_size(state.nodes)
    arm, leader = state.active[position], state.leader[0]
    centre = 0.5 * (estimated_mean(state, arm) + estimated_mean(state, leader))
    largest = SAFE_STAKE / max(centre, 1.0 - centre)
    variance = max(estimated_variance(state, arm), estimated_variance(state, leader))
    least = highest_log_wealth(state, arm) - LOST
    at = arm * len(state.stakes)
    for place in range(1, len(state.stakes)):
        stake = state.stakes[place]
        if stake < 0.0:
            stake = expected_stake(state, arm)
        elif stake * stake * variance * (state.passes[0] + passes) < LEAST_NOISE:
            break  # as are all that follow
        if state.log_wealth[at + place] < least:
            continue
        if state.variance > 0.0:
            ahead = seen[lead * size] - seen[position * size]
            gain = stake * ahead - stake * stake * state.variance * passes
        else:
            gain = 0.0
            stake = min(stake, largest)
            for node in range(size):
                up, down = seen[lead * size + node], seen[position * size + node]
                move = stake * (state.nodes[node] - centre)
                won = up * math.log1p(move) if up > 0.0 else 0.0
                if down > 0.0:  # most rounds are short, and logarithms are most of their work
                    won += down * math.log1p(-move)
                gain += won
        state.log_wealth[at + place] += gain


def expected_stake(state: BettingState, arm: int) -> float:
    """Return the stake against an arm that is best if the leader is ahead as expected."""
    noise = estimated_variance(state, arm, CAUTIOUS, LARGEST_VARIANCE)
    noise += estimated_variance(state, state.leader[0], CAUTIOUS, LARGEST_VARIANCE)
    return state.expected / noise


def take_in(state: BettingState, passes: int, seen: FloatArray) -> None:
    """Remember a round, and earlier ones for the less the longer ago they were."""
    size = seen_size(state.nodes)
    before = state.passes[0]
    state.passes[0] += passes
    state.rounds[0] += 1
    kept = before / state.passes[0]
    state.recent[0] = kept * state.recent[0] + passes
    for position in range(state.left[0]):
        arm = state.active[position]
        total, squares = 0.0, 0.0
        if state.variance > 0.0:
            total = seen[position]
        for node in range(len(state.nodes)):
            times, score = seen[position * size + node], state.nodes[node]
            total += times * score
            squares += times * score * score
        state.pulls[arm] += passes
        state.means[arm] += (total - passes * state.means[arm]) / state.passes[0]
        state.sums[arm] = kept * state.sums[arm] + total
        state.squares[arm] = kept * state.squares[arm] + squares


def highest_log_wealth(state: BettingState, arm: int) -> float:
    """Return the logarithm of the wealth on the stake that has most."""
    at = arm * len(state.stakes)
    highest = state.log_wealth[at]
    for place in range(1, len(state.stakes)):
        highest = max(highest, state.log_wealth[at + place])
    return float(highest)


def log_worth(state: BettingState, arm: int) -> float:
    """Return the logarithm of the wealth of all bets against an arm."""
    at = arm * len(state.stakes)
    highest = highest_log_wealth(state, arm)
    total = 0.0
    for place in range(len(state.stakes)):
        total += math.exp(state.log_wealth[at + place] - highest)
    return float(highest + math.log(total))


def reaches(state: BettingState, arm: int, log_worth_needed: float) -> bool:
    """Return whether the wealth of all bets against an arm is as large."""
    # The exponentials take longer than all the rest of a round.
    if highest_log_wealth(state, arm) + math.log(len(state.stakes)) < log_worth_needed:
        return False
    return log_worth(state, arm) >= log_worth_needed


def is_tried(state: BettingState, place: int, variance: float) -> bool:
    """Return whether chance alone could have moved a stake by so much that it should have won."""
    stake = state.stakes[place]
    if state.tried == 0.0 or stake < 0.0:
        return False
    return bool(stake * stake * variance * state.passes[0] > state.tried)


def log_worth_to_spread(state: BettingState, arm: int, variance: float) -> float:
    """Return the logarithm of the wealth on the stakes that have not been tried."""
    at = arm * len(state.stakes)
    highest = state.log_wealth[at]  # cash is never tried
    for place in range(1, len(state.stakes)):
        if not is_tried(state, place, variance):
            highest = max(highest, state.log_wealth[at + place])
    total = 0.0
    for place in range(len(state.stakes)):
        if not is_tried(state, place, variance):
            total += math.exp(state.log_wealth[at + place] - highest)
    return float(highest + math.log(total))


def return_to_prior(state: BettingState, arm: int, part: float) -> None:
    """Spread a part of an arm's wealth over the stakes as it was in the beginning.

    Stakes that have been tried keep what they have and are given nothing: spread over all, most of
    it would be lost at once where a leader is found late.
    """
    at = arm * len(state.stakes)
    variance = max(estimated_variance(state, arm), estimated_variance(state, state.leader[0]))
    worth = log_worth_to_spread(state, arm, variance)
    given = 1.0
    for place in range(len(state.stakes)):
        if is_tried(state, place, variance):
            given -= math.exp(state.log_prior[place])
    for place in range(len(state.stakes)):
        if is_tried(state, place, variance):
            continue
        fresh = worth + state.log_prior[place] - math.log(given)
        if part < 1.0:
            fresh += math.log(part)
            kept = state.log_wealth[at + place] + math.log(1.0 - part)
            highest = max(fresh, kept)
            fresh = highest + math.log(math.exp(fresh - highest) + math.exp(kept - highest))
        state.log_wealth[at + place] = fresh


def lag_that_drops(
    state: BettingState, passes: int, variance: float, needed: float
) -> float | None:
    """Return by how much a mean must lag for the bets to win enough; None if no lag is so large.

    If bounded, scores lie a standard deviation above and below the centre, as often as expected.

    Args:
        state: of the beginning.
        passes: in which bets are placed.
        variance: of one feedback.
        needed: the logarithm of the wealth that is enough.
    """
    spread = math.sqrt(variance)
    bounded = state.variance == 0.0
    stakes = np.where(state.stakes < 0.0, state.expected / (2.0 * variance), state.stakes)

    def log_wealth(lag: float) -> float:
        if bounded:
            moves = np.minimum(stakes, SAFE_STAKE / 0.5) * spread
            above = 0.5 + 0.25 * lag / spread  # the part of the leader's scores
            gains = 2.0 * (above * np.log1p(moves) + (1.0 - above) * np.log1p(-moves))
        else:
            gains = stakes * lag - stakes**2 * variance
        return float(np.logaddexp.reduce(state.log_prior + passes * gains))

    low, high = 0.0, spread * (2.0 if bounded else LARGEST_LAG)
    if log_wealth(high) < needed:
        return None
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if log_wealth(middle) >= needed else (middle, high)
    return high
