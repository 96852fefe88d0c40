"""How often each score of a list is given in a round, exactly, without drawing every one.

A gated score is the lowest one with probability 1 - W, and otherwise drawn from the arm's own law,
which does not move. So how many of a round's scores pass the gate is the number of successes of a
coin with p = W (`successes`), and given that, how often each score comes is a multinomial number
with fixed probabilities: a binomial number for each score, of those that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.digests import own_code
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.noise.laws import BERNOULLI_GATED, FINITE_GATED
from affinity_bandits.policies.tallies import add_score
from affinity_bandits.simulation.binomial import next_binomial
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words
from affinity_bandits.simulation.environment import (
    BanditArrays,
    arena_of,
    key_words,
    require_bandit,
)
from affinity_bandits.simulation.seating import why_shares_move
from affinity_bandits.simulation.successes import compiled_successes

count_successes: Function = unbound
tally_of_arm: Function = unbound


class Tally(NamedTuple):
    """How often each score was given in a round.

    Attributes:
        scores: the scores that there are, ascending.
        counts: [place in the round, score]; each row adds up to the round's repetitions.
    """

    scores: FloatArray
    counts: IntArray


def draw_tally(
    arena: BanditArrays,
    stream: Stream,
    arm: int,
    a: float,
    b: float,
    k: float,
    pulls: int,
    tally: IntArray,
) -> None:
    """Draw how often an arm is given each score in a round; a kernel.

    `tally` is filled with how many did not pass the gate and then, for each of the arm's values,
    how often it came.
    """
    code, parameters = arena.code, arena.parameters
    if arena.law == BERNOULLI_GATED:
        passed = count_successes(stream, code, parameters, arena.means[arm], a, b, k, pulls)
        tally[0] = pulls - passed
        tally[1] = passed
        return
    left = count_successes(stream, code, parameters, 1.0, a, b, k, pulls)
    tally[0] = pulls - left
    for place in range(len(arena.values)):
        found = next_binomial(stream, left, arena.conditional[arm, place])
        tally[place + 1] = found
        left -= found


def fill_tallies(
    arena: BanditArrays,
    pulls: IntArray,
    arms: IntArray,
    repetitions: int,
    key: Words,
    replicate: np.uint64,
    out: IntArray,
) -> None:
    """Draw the tallies of a round, one row for each of its arms; a kernel."""
    stream = Stream(key, replicate, np.zeros(1, dtype=np.uint64))
    total = arena.total_initial + pulls.sum()
    for place in range(len(arms)):
        arm = arms[place]
        members = float(arena.initial[arm] + pulls[arm])
        size = float(len(arms))
        tally_of_arm(
            arena, stream, arm, members, float(total + place), size, repetitions, out[place]
        )


def bound_tally(bias_kernel: Function) -> Function:
    """Return `draw_tally` for a bias, as a kernel."""
    return bind(draw_tally, count_successes=compiled_successes(bias_kernel))


@lru_cache(maxsize=64)  # telling kernels apart takes a millisecond or two
def bound_fill(bias_kernel: Function, own: str | None = None) -> Function:
    """Return `fill_tallies`, compiled for a bias.

    Args:
        bias_kernel: of the bias.
        own: a digest of the user's own code in it (`own_code`).
    """
    return compiled(bind(fill_tallies, tally_of_arm=bound_tally(bias_kernel)), allocates=True)


def tally_round(
    bandit: AffinityBandit,
    arms: Sequence[int],
    repetitions: int,
    *,
    pulls: Sequence[int] | None = None,
    seed: int = 0,
    replicate: int = 0,
) -> Tally:
    """Draw how often each arm of one round is given each score.

    Args:
        bandit: the instance; scores of a list, gated, without bounded memory.
        arms: of the round, in their order.
        repetitions: how often each of them comes.
        pulls: of each arm before the round, without the initial ones; none if left out.
        seed: of the noise.
        replicate: which of the independent draws of that seed.

    Raises:
        NotSupported: the scores of this bandit cannot be counted at once.

    >>> from affinity_bandits import Ordinal
    >>> bandit = AffinityBandit([0.4, 0.6], bias="power", noise=Ordinal(5))
    >>> tally_round(bandit, [0, 1], 1000).counts.sum(axis=1).tolist()
    [1000, 1000]
    """
    require_bandit(bandit)
    reason = why_no_tallies(bandit)
    if not bandit.counts_pulls:
        reason = "not everybody judges who was ever chosen"
    if reason is not None:
        raise NotSupported(f"scores of a round cannot be counted at once: {reason}")
    most = bandit.arms - 1
    chosen = checks.integers_list("arms", arms, high=most)
    if not chosen or len(set(chosen)) < len(chosen):
        raise InvalidInput("arms", "a list of different arms", arms)
    times = checks.integer("repetitions", repetitions, low=1)
    before = [0] * bandit.arms if pulls is None else checks.integers_list("pulls", pulls)
    if len(before) != bandit.arms:
        raise InvalidInput("pulls", f"as long as true_means ({bandit.arms})", pulls)
    checks.integer("seed", seed, low=0, high=2**128 - 1)
    number = np.uint64(checks.integer("replicate", replicate, low=0, high=2**63 - 1))
    arena, weight = arena_of(bandit), bandit.bias.kernel
    counts = np.zeros((len(chosen), tally_size(arena)), dtype=np.int64)
    fill = bound_fill(weight, own_code(weight, strict=False))
    fill(
        arena,
        np.array(before, dtype=np.int64),
        np.array(chosen, dtype=np.int64),
        times,
        key_words(seed, "round"),
        number,
        counts,
    )
    return _merged(bandit, tallied_values(arena), counts)


def tallied_values(arena: BanditArrays) -> FloatArray:
    """Return the scores that a tally counts, mapped to [0, 1], in its order."""
    if arena.law == BERNOULLI_GATED:
        return np.array([0.0, 1.0])
    return np.array([0.0, *arena.values])


def node_split(arena: BanditArrays, nodes: Sequence[float]) -> FloatArray:
    """Return what part of each score of a tally is counted at each node, [score, node]."""
    if not nodes:
        return np.zeros((0, 0))
    values = tallied_values(arena)
    parts = np.zeros((len(values), len(nodes)))
    for row, value in zip(parts, values, strict=True):
        add_score(np.array(nodes), float(value), row, 0)
    return parts


def _merged(bandit: AffinityBandit, values: FloatArray, counts: IntArray) -> Tally:
    """Return a tally in scores; what did not pass the gate is the lowest of them."""
    different, places = np.unique(values, return_inverse=True)
    merged = np.zeros((len(counts), len(different)), dtype=np.int64)
    for column, place in enumerate(places):
        merged[:, place] += counts[:, column]
    return Tally(bandit.noise.as_scores(different), merged)


def tally_size(arena: BanditArrays) -> int:
    """Return how many numbers a tally has."""
    return max(2, 1 + len(arena.values))


def why_no_tallies(bandit: AffinityBandit) -> str | None:
    """Return why the scores of a round cannot be counted at once, or None if they can."""
    reason = why_shares_move(bandit)
    if reason is not None:
        return reason
    if bandit.noise.law_code(str(bandit.mechanism)) not in (BERNOULLI_GATED, FINITE_GATED):
        return f"{bandit.feedback_name} is not one of a list"
    return bandit.noise.why_no_rounds(str(bandit.mechanism))
