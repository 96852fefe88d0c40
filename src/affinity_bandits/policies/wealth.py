"""The e-processes of betting eliminations: bets against each arm, round by round."""

from __future__ import annotations

import math
from typing import NamedTuple

from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel

LARGEST_STAKE = 2.0
STAKES = 48
"""Stakes are 2, 2/sqrt(2), 1, ...; the smallest suffices for 10**14 passes."""
USUAL_STAKE = 0.3
SPREAD_OF_STAKES = 0.7
"""Mean and standard deviation of the normal prior over the logarithm of the stake."""
LEAST_PRIOR = 0.03
"""Added to the prior density of every stake, so that unusual ones are bet as well."""
FADING = 2.0**-0.25
"""Ratio of `LEAST_PRIOR` between a stake and the next larger one."""
LEAST_NOISE = 0.03
"""A stake is bet once noise can move the logarithm of its wealth by this standard amount."""
LOST = 100.0
"""A stake whose log-wealth is lower than the largest by this much is not bet."""
CASH = 0.02
"""Part of the wealth that is never staked, until some of it returns to the prior."""
AIMED = 0.4
"""Prior of the stake that is to have won enough by a target."""
MISSED = 0.5
"""A target that was missed is put off by this part of the passes so far."""
LEAST_CHANCE = 1e-9
"""Below this chance of winning enough by the target, that stake is not bet."""
SAFE_STAKE = 0.9
"""Largest part of its wealth that a stake can lose on one score."""
PRIOR_SCORES = 2.0
PRIOR_MEAN, PRIOR_VARIANCE = 0.5, 0.1
"""Pseudo-scores that estimates of mean and variance begin with."""
LARGEST_VARIANCE = 0.25
WORTH = 10.0
"""With a declared horizon, a stake is used only if noise can move it by this much until then."""
TRIED = 10.1
"""With a declared horizon, a stake gets no more wealth once noise could have moved it by this much.
Not 10, which whole numbers of passes meet exactly, so that rounding would decide."""


class BettingState(NamedTuple):
    """Active arms, the leader, summaries of feedback, and the wealth of the bets per arm."""

    nodes: FloatArray  # at which scores are counted; none if sums are told
    variance: float  # of one feedback; 0: feedback in [0, 1], whose variance is estimated
    log_threshold: float  # log-wealth at which an arm is dropped
    horizon: float  # declared, if a mistake is to cost less the later it is made; else 0
    order: int  # members that answers out of order can take from an arm
    shortest: int  # passes of a round at least
    widest: int  # the largest initial lead there may have been
    target: float  # choices by which enough is to have been won; 0 if none are told
    tried: float  # noise after which a stake gets no more wealth; 0: never
    stakes: FloatArray  # the first is 0: cash
    log_prior: FloatArray
    fewest: IntArray  # per arm: initial pulls at least
    most: IntArray  # per arm: initial pulls at most
    judges: IntArray  # per arm: those who judge the round, if the policy is told
    soon: IntArray  # per arm: those chosen before the round who may begin to judge in it
    coming: IntArray  # per arm: all who judge, or were chosen and are to begin
    first: IntArray  # per arm: the same before the first round
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
    recent: FloatArray  # [0]: passes, discounted by age
    sums: FloatArray  # per arm: feedback, discounted likewise
    squares: FloatArray  # per arm: squared feedback, discounted likewise
    log_wealth: FloatArray  # [arm, stake], flat


def prior_stakes(sigma: float, aimed: bool, horizon: int | None) -> tuple[list[float], list[float]]:
    """Return the stakes, of which the first is 0, and the part of the wealth that begins on each.

    Args:
        sigma: of subGaussian feedback; 0 if feedback lies in [0, 1].
        aimed: whether there is a target.
        horizon: if given, the prior is uniform over the stakes that can win before it.
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
    if not aimed:
        return [0.0, *stakes], [CASH, *prior]
    # The stake for a target depends on what is still to be won: -1 marks it.
    own = [(1.0 - AIMED) * one for one in (CASH, *prior)]
    return [0.0, -1.0, *stakes], [own[0], AIMED, *own[1:]]


@kernel
def estimated_mean(state: BettingState, arm: int) -> float:
    """Estimate an arm's mean feedback of late."""
    total = state.sums[arm] + PRIOR_MEAN * PRIOR_SCORES
    return float(total / (state.recent[0] + PRIOR_SCORES))


@kernel
def estimated_variance(state: BettingState, arm: int) -> float:
    """Return the variance of an arm's feedback: as told, or estimated."""
    if state.variance > 0.0:
        return state.variance
    seen = 0.0
    if state.recent[0] > 0.0:
        seen = state.squares[arm] - state.sums[arm] * state.sums[arm] / state.recent[0]
    seen = max(seen, 0.0) + PRIOR_VARIANCE * PRIOR_SCORES
    return float(seen / (state.recent[0] + PRIOR_SCORES))


@kernel
def bet_on_leader(state: BettingState, passes: int, seen: FloatArray) -> None:
    """Settle the bets of a round, which were fixed by the feedback of earlier rounds."""
    lead = place_of_leader(state)
    for position in range(state.left[0]):
        if position != lead and may_bet(state, state.active[position], passes):
            bet_against(state, position, lead, passes, seen)


@kernel
def may_bet(state: BettingState, arm: int, passes: int) -> bool:
    """Return whether bets are placed against an arm in a round of so many passes: always."""
    return True


@kernel
def place_of_leader(state: BettingState) -> int:
    """Return the leader's place among the active arms."""
    for position in range(state.left[0]):
        if state.active[position] == state.leader[0]:
            return position
    return 0


@kernel
def bet_against(
    state: BettingState, position: int, lead: int, passes: int, seen: FloatArray
) -> None:
    """Settle a round's bets on the leader, at place `lead`, against the arm at `position`."""
    size = max(1, len(state.nodes))
    arm, leader = state.active[position], state.leader[0]
    center = 0.5 * (estimated_mean(state, arm) + estimated_mean(state, leader))
    largest = SAFE_STAKE / max(center, 1.0 - center)
    variance = max(estimated_variance(state, arm), estimated_variance(state, leader))
    least = highest_log_wealth(state, arm) - LOST
    at = arm * len(state.stakes)
    for place in range(1, len(state.stakes)):
        stake = state.stakes[place]
        if stake < 0.0:  # for the target; the first, so that no wealth has changed yet
            stake = stake_on_target(state, arm, passes)
        elif stake * stake * variance * (state.passes[0] + passes) < LEAST_NOISE:
            break  # stakes descend, so this holds for all that follow
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
                move = stake * (state.nodes[node] - center)
                won = up * math.log1p(move) if up > 0.0 else 0.0
                if down > 0.0:  # most rounds are short, and logarithms are most of their work
                    won += down * math.log1p(-move)
                gain += won
        state.log_wealth[at + place] += gain


@kernel
def stake_on_target(state: BettingState, arm: int, passes: int) -> float:
    """Return the stake that is likeliest to win the missing wealth by the target; 0 for no stake.

    It replicates an option that pays the missing wealth if the leader is far enough ahead at the
    target.
    """
    ahead = (state.target - state.pulls.sum()) / state.left[0]
    if ahead < passes:
        ahead = MISSED * state.passes[0]
    if ahead < passes:
        return 0.0
    noise = estimated_variance(state, arm) + estimated_variance(state, state.leader[0])
    return stake_that_wins(state, arm, ahead * noise)


@kernel
def stake_that_wins(state: BettingState, arm: int, variance: float) -> float:
    """Return the stake that is likeliest to win the missing wealth; 0 for no stake.

    `variance` is that of the sum of all differences from now to the target.
    """
    own = math.exp(state.log_wealth[arm * len(state.stakes) + 1] - state.log_threshold)
    others = math.exp(log_worth(state, arm) - state.log_threshold) - own
    chance = own / max(own, 1.0 - others)
    if not LEAST_CHANCE <= chance < 1.0:
        return 0.0
    # The normal quantile of that chance by Abramowitz and Stegun, 26.2.22
    root = math.sqrt(-2.0 * math.log(min(chance, 1.0 - chance)))
    z = root - (2.30753 + 0.27061 * root) / (1.0 + 0.99229 * root + 0.04481 * root * root)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return float(min(density / (chance * math.sqrt(variance)), state.stakes[2]))


@kernel
def take_in(state: BettingState, passes: int, seen: FloatArray) -> None:
    """Add a round to the summaries of feedback, discounting earlier rounds."""
    size = max(1, len(state.nodes))
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
        state.sums[arm] = kept * state.sums[arm] + total
        state.squares[arm] = kept * state.squares[arm] + squares


@kernel
def highest_log_wealth(state: BettingState, arm: int) -> float:
    """Return the log-wealth of the richest stake against an arm."""
    at = arm * len(state.stakes)
    highest = state.log_wealth[at]
    for place in range(1, len(state.stakes)):
        highest = max(highest, state.log_wealth[at + place])
    return float(highest)


@kernel
def is_tried(state: BettingState, place: int, variance: float) -> bool:
    """Return whether noise could have moved a stake by so much that it should have won by now."""
    stake = state.stakes[place]
    if state.tried == 0.0 or stake < 0.0:
        return False
    return bool(stake * stake * variance * state.passes[0] > state.tried)


@kernel
def log_worth(state: BettingState, arm: int, variance: float = 0.0) -> float:
    """Return the log-wealth of all bets against an arm.

    With a variance of feedback, stakes that have been tried are left out.
    """
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


@kernel
def return_to_prior(state: BettingState, arm: int, part: float) -> None:
    """Redistribute a part of an arm's wealth over the stakes by their prior.

    Stakes that have been tried keep their wealth; more of it would be lost at once if a leader is
    found late.
    """
    at = arm * len(state.stakes)
    variance = max(estimated_variance(state, arm), estimated_variance(state, state.leader[0]))
    worth = log_worth(state, arm, variance)
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


FIRST_PASSES = 4
FIRST_PART = 12
"""The first round has four passes, or the largest initial lead divided by this: a wrong first
leader costs about the whole lead."""
ROUND_PART = 40
"""A round has as many passes as all before it, divided by this. Shorter rounds gain little, and
live campaigns wait at the end of each."""
ROUNDS_PER_LEAD = 2
"""The leader can change after every second round."""
RETURNED = 0.02
"""Part of the wealth that returns to the prior whenever the passes have doubled."""


@kernel
def passes_to_come(state: BettingState) -> int:
    """Return the number of passes of the next round."""
    if state.passes[0] == 0:
        return int(max(FIRST_PASSES, state.shortest, state.widest // FIRST_PART))
    return int(max(1, state.shortest, state.passes[0] // ROUND_PART))


@kernel
def log_worth_needed(state: BettingState) -> float:
    """Return the log-wealth at which an arm is dropped."""
    if state.horizon > 0.0:
        return float(max(state.log_threshold, math.log(state.horizon / max(1, state.pulls.sum()))))
    return float(state.log_threshold)


@kernel
def drop_beaten(state: BettingState) -> None:
    """Drop every arm whose bets have won more than chance explains."""
    leader = state.leader[0]
    needed = log_worth_needed(state)
    # A sum of exponentials takes longer than the rest of a round; this bound often spares it.
    slack = math.log(len(state.stakes))
    returns = state.passes[0] >= 2 * state.doubled[0]
    if returns:
        state.doubled[0] = state.passes[0]
    kept = 0
    for position in range(state.left[0]):
        arm = state.active[position]
        if arm != leader:
            near = highest_log_wealth(state, arm) + slack >= needed
            if near and log_worth(state, arm) >= needed:
                state.dropped_in[arm] = state.rounds[0]
                continue
            if returns:
                return_to_prior(state, arm, RETURNED)
        state.active[kept] = arm
        kept += 1
    state.left[0] = kept


@kernel
def end_round(state: BettingState, passes: int, seen: FloatArray) -> bool:
    """Take in a round whose bets are settled; return whether the leader can change now."""
    led = state.leader[0] >= 0
    take_in(state, passes, seen)
    if led:
        drop_beaten(state)
    return bool(state.left[0] > 1 and (not led or state.rounds[0] % ROUNDS_PER_LEAD == 0))
