"""The committee, its judges and the feedback of one pull.

`members` has the number of members per arm. `judges` has the judges of the round per arm and, in
its last place, their total.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import QUICK, weight
from affinity_bandits.model.committee import WHO
from affinity_bandits.model.noise.base import (
    BERNOULLI_GATED,
    BERNOULLI_SHIFTED,
    GAUSSIAN_GATED,
    GAUSSIAN_SCALED,
    GAUSSIAN_SHIFTED,
    QUANTILE_REDRAWN,
    QUANTILE_SCALED,
    is_normal,
    no_quantile,
    reads_gate,
)
from affinity_bandits.model.streams import stream_key

COMMITTEE, PANEL, RECUSED = range(len(WHO))
candidate: Function = unbound


class Seating(NamedTuple):
    """Who joins, who leaves and who judges, as numbers; see `Joining` and `Judges`."""

    counted: bool  # whether members are counted at all
    part: float
    above: float
    at_once: bool
    leaving: float
    who: int
    seats: int
    as_wanted: bool


def seating_of(bandit: AffinityBandit, told_judges: bool) -> Seating:
    """Return a bandit's rules of who joins and who judges.

    Args:
        bandit: the instance.
        told_judges: whether members are counted even if pulls suffice.

    Raises:
        NotSupported: memory is bounded and the policy is told who judges.
    """
    if told_judges and bandit.memory is not None:
        raise NotSupported("a policy cannot be told who judges where memory is bounded")
    joining, judges = bandit.joining, bandit.judges
    return Seating(
        counted=bandit.memory is None and (told_judges or not bandit.counts_pulls),
        part=joining.part,
        above=-math.inf if joining.above is None else joining.above,
        at_once=joining.when == "at once",
        leaving=joining.leaving,
        who=WHO.index(judges.who),
        seats=judges.seats or 0,
        as_wanted=judges.seating == "as wanted",
    )


def why_shares_move(bandit: AffinityBandit) -> str | None:
    """Return why shares may change during a round; None if they are fixed, or as in the paper."""
    if bandit.memory is not None:
        return "with bounded memory a share depends on who left, not only on counts"
    if bandit.counts_pulls:
        return None
    if bandit.joining.when == "at once" and bandit.judges.who == "committee":
        return "who joins at once changes shares during a round"
    return None


def why_no_joining(bandit: AffinityBandit) -> str | None:
    """Return why who joins and leaves in a round cannot be drawn at once; None if it can."""
    if bandit.joining.leaving > 0.0:
        return "who leaves depends on who is left"
    if bandit.joining.above is not None:
        return "who joins depends on every single score"
    return None


def seat_judges(seating: Seating, members: IntArray, judges: IntArray, fewest: int) -> None:
    """Seat those who judge a round; `fewest` should get the fewest seats of a panel."""
    arms = len(members)
    sitting = 0
    for arm in range(arms):
        sitting += members[arm]
    least = seating.seats
    for arm in range(arms):
        seats = members[arm]
        if seating.who == RECUSED:
            seats = 0
        elif seating.who == PANEL and seating.as_wanted:
            seats = min(seats, seating.seats // arms)
        elif seating.who == PANEL and sitting > seating.seats:
            seats = int(seating.seats * (members[arm] / sitting))
        judges[arm] = seats
        if arm != fewest:
            least = min(least, seats)
    if seating.who == PANEL and seating.as_wanted and fewest >= 0:
        judges[fewest] = min(judges[fewest], least)
    total = 0
    for arm in range(arms):
        total += judges[arm]
    judges[arms] = total


def joins_committee(seating: Seating, seen: float, joins: float) -> bool:
    """Return whether the chosen one joins; `joins` is uniform, read only if joining is random."""
    return bool(seen >= seating.above and (seating.part == 1.0 or joins < seating.part))


def change_members(
    seating: Seating,
    members: IntArray,
    judges: IntArray,
    arm: int,
    joined: bool,
    leaves: float,
) -> None:
    """Seat the chosen one if `joined`, and let a random member leave with the set probability.

    `leaves` is a uniform number, read only if leaving is random.
    """
    sit_at_once = seating.at_once and seating.who == COMMITTEE
    if joined:
        members[arm] += 1
        if sit_at_once:
            judges[arm] += 1
            judges[len(members)] += 1
    if seating.leaving > 0.0 and leaves < seating.leaving:
        sitting = 0
        for other in range(len(members)):
            sitting += members[other]
        # What is left of the number, once it has said that somebody leaves, says who.
        place = int(leaves / seating.leaving * sitting)
        for other in range(len(members)):
            if sitting > 1 and place < members[other]:
                members[other] -= 1
                if sit_at_once:
                    judges[other] -= 1
                    judges[len(members)] -= 1
                break
            place -= members[other]


quantile: Function = no_quantile
"""Bound to the kernel of a noise that has one."""
NO_FORMULA = -1
"""The formula of a weight that is not one of `QUICK`."""


class BanditArrays(NamedTuple):
    """An `AffinityBandit` as numbers, for kernels."""

    means: FloatArray
    law: int  # noise and mechanism in one: the constants of model/noise/base.py
    noise: FloatArray  # the noise's own numbers; if it is Gaussian, sigma of each arm
    values: FloatArray  # of a noise whose scores are one of a list; see `FiniteLaws`
    cumulative: FloatArray
    conditional: FloatArray
    code: int
    parameters: FloatArray
    memory: int  # 0: the whole history counts
    initial: IntArray
    total_initial: int
    seating: Seating
    formula: int  # of `quick_weight`, or NO_FORMULA
    # Addresses, where they are needed and known: see `loop_functions`.
    weight_at: Any = 0
    value_at: Any = 0


class Committee(NamedTuple):
    """Pulls so far and, unless everybody chosen stays a member, who sits on the committee.

    If all stay, the other fields are empty.
    """

    clock: IntArray  # [0]: pulls made; [1]: after how many one candidate was left, or 0
    pulls: IntArray  # per arm, without the initial ones
    members: IntArray  # per arm: who sits
    seats: IntArray  # [0]: taken seats; [1]: where in the ring the longest-serving member stands
    ring: IntArray  # the members in order of arrival, where memory is bounded
    judges: IntArray  # per arm: of those who judge the round; then of all, unless memory is bounded


@kernel
def one_left(state: Any, arms: int) -> bool:
    """Return whether one candidate is left."""
    left = 0
    for arm in range(arms):
        if candidate(state, arm):
            left += 1
            if left > 1:
                return False
    return True


def require_bandit(value: object) -> AffinityBandit:
    """Return a bandit, after checking that it is one."""
    if not isinstance(value, AffinityBandit):
        raise InvalidInput("bandit", "an AffinityBandit", value)
    return value


def arena_of(bandit: AffinityBandit, told_judges: bool = False) -> BanditArrays:
    """Return the numbers of a bandit; copies, so that all bandits have one compiled type.

    Args:
        bandit: the instance.
        told_judges: whether members are counted even if pulls suffice.
    """
    laws = bandit.noise.finite_laws(bandit.true_means)
    quick = bandit.bias.kernel is weight and bandit.bias.code in QUICK
    law = bandit.noise.law_code(str(bandit.mechanism))
    own = bandit.noise.parameters
    return BanditArrays(
        means=np.array(bandit.true_means, dtype=np.float64),
        law=law,
        noise=np.array(np.broadcast_to(own, bandit.arms) if is_normal(law) else own, dtype=float),
        values=np.array(laws.values, dtype=np.float64),
        cumulative=np.array(laws.cumulative, dtype=np.float64, order="C"),
        conditional=np.array(laws.conditional, dtype=np.float64, order="C"),
        code=bandit.bias.code,
        parameters=np.array(bandit.bias.parameters, dtype=np.float64),
        memory=bandit.memory or 0,
        initial=np.array(bandit.initial_pulls, dtype=np.int64),
        total_initial=bandit.total_initial_pulls,
        seating=seating_of(bandit, told_judges),
        formula=bandit.bias.code if quick else NO_FORMULA,
    )


def committee_of(bandit: AffinityBandit, told_judges: bool = False) -> Committee:
    """Return the committee before the first pull; see `arena_of`."""
    ring = np.zeros(bandit.memory or 0, dtype=np.int64)
    members = np.zeros(0 if bandit.memory is None else bandit.arms, dtype=np.int64)
    seated = seating_of(bandit, told_judges).counted
    if seated:
        members = np.array(bandit.initial_pulls, dtype=np.int64)
    if bandit.memory is not None:
        sitting = bandit.leaving_order()
        ring[: len(sitting)] = sitting
        members = np.bincount(sitting, minlength=bandit.arms).astype(np.int64)
    return Committee(
        clock=np.zeros(2, dtype=np.int64),
        pulls=np.zeros(bandit.arms, dtype=np.int64),
        members=members,
        seats=np.array([0 if seated else members.sum(), 0], dtype=np.int64),
        ring=ring,
        judges=np.zeros(bandit.arms + 1 if seated else 0, dtype=np.int64),
    )


@kernel
def share_of(arena: BanditArrays, committee: Committee, total: float, arm: int) -> float:
    """Return an arm's share of the committee (Assumption 2.1).

    `total` is the number of initial and later pulls, which is the committee if all stay.
    """
    if arena.seating.counted:
        return float(committee.judges[arm] / max(1, committee.judges[-1]))
    if arena.memory == 0:
        return float((arena.initial[arm] + committee.pulls[arm]) / total)
    return float(committee.members[arm] / committee.seats[0])


@kernel
def take_seat(memory: int, committee: Committee, arm: int) -> None:
    """Let the chosen arm's candidate join a committee of bounded memory."""
    taken, oldest = committee.seats[0], committee.seats[1]
    committee.members[arm] += 1
    if taken < memory:
        committee.ring[taken] = arm  # nobody has left, so the ring starts at 0
        committee.seats[0] = taken + 1
    else:
        committee.members[committee.ring[oldest]] -= 1
        committee.ring[oldest] = arm
        committee.seats[1] = (oldest + 1) % memory


@kernel
def feedback(arena: BanditArrays, arm: int, weight: float, noise: float, gate: float) -> float:
    """Return Y for one pull (Section 2, feature (iv)).

    `noise` is standard normal for Gaussian values, else uniform; `gate` is uniform and only read
    for gated values. Gated Bernoulli values need one uniform number, as B X ~ Bernoulli(mu W).
    """
    mean = arena.means[arm]
    law = arena.law
    if law == BERNOULLI_GATED:
        return 1.0 if noise < mean * weight else 0.0
    if law == QUANTILE_REDRAWN:
        return float(true_value(arena, arm, mean * weight, noise))
    if law < GAUSSIAN_SCALED:
        value = 1.0 if noise < mean else 0.0
    elif law <= GAUSSIAN_GATED:
        value = mean + arena.noise[arm] * noise
    else:
        value = true_value(arena, arm, mean, noise)
    if law in (GAUSSIAN_SHIFTED, BERNOULLI_SHIFTED):
        return float(value + mean * (weight - 1.0))
    if reads_gate(law):
        return float(value) if gate < weight else 0.0
    return float(weight * value)


@kernel
def true_value(arena: BanditArrays, arm: int, mean: float, u: float) -> float:
    """Return the value of an arm for a uniform number, of a list or by a quantile."""
    if arena.law < QUANTILE_SCALED:
        return listed_value(arena.values, arena.cumulative, arm, u)
    return float(quantile(arena.noise, mean, u))


@kernel
def listed_value(values: FloatArray, cumulative: FloatArray, arm: int, u: float) -> float:
    """Return the first value whose cumulative probability is above u."""
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if u < cumulative[arm, middle]:
            high = middle
        else:
            low = middle + 1
    return float(values[low])


def bound_feedback(noise_kernel: Function) -> Function:
    """Return `feedback` for a noise, as a kernel."""
    if noise_kernel is no_quantile:
        return feedback
    return bind(feedback, true_value=bind(true_value, quantile=noise_kernel))


class Environment:
    """One replicate of a bandit, for your own loops, one pull at a time.

    It gives the same feedback to the same choices as the compiled loop.

    Args:
        bandit: the instance.
        seed: of the noise.
        replicate: which of the independent runs of that seed.

    >>> from affinity_bandits import AffinityBandit, Power
    >>> environment = Environment(AffinityBandit([0.4, 0.6], bias=Power(1.0)), seed=1)
    >>> environment.pull(0) in (0.0, 1.0)
    True
    """

    BLOCK = 4096

    def __init__(self, bandit: AffinityBandit, seed: int = 0, replicate: int = 0) -> None:
        self.bandit = require_bandit(bandit)
        self._arena = arena_of(bandit)
        self.committee = committee_of(bandit)
        self._weight = bandit.bias.kernel
        self._feedback = bound_feedback(bandit.noise.kernel)
        self._replicate = np.uint64(checks.integer("replicate", replicate, low=0, high=2**63 - 1))
        self._keys = {role: key_words(seed, role) for role in ("noise", "gate", "join", "leave")}
        self._blocks: dict[str, Any] = {}
        self._by_hand = False
        self._open(-1)

    def _open(self, fewest: int) -> None:
        if self._arena.seating.counted:
            seat_judges(self._arena.seating, self.committee.members, self.committee.judges, fewest)

    def open_round(self, fewest: int | None = None) -> list[int]:
        """Seat the judges until the next call; return their number per arm.

        Before the first call, every pull is a round. If everybody ever chosen judges, nobody is
        seated.

        Args:
            fewest: the arm that should have the fewest seats, if one should.
        """
        arm = -1
        if fewest is not None:
            arm = checks.integer("fewest", fewest, low=0, high=self.bandit.arms - 1)
        self._by_hand = True
        self._open(arm)
        if self._arena.seating.counted:
            return [int(count) for count in self.committee.judges[:-1]]
        if self._arena.memory > 0:
            return [int(count) for count in self.committee.members]
        return [int(count) for count in self._arena.initial + self.committee.pulls]

    def shares(self) -> FloatArray:
        """Return each arm's share of the committee before the next pull (Assumption 2.1).

        `pull` uses it if a subclass overrides it, for other judges; a share lies in [0, 1].
        """
        arms = range(self.bandit.arms)
        return np.array([share_of(self._arena, self.committee, self._total, arm) for arm in arms])

    def _share(self, arm: int) -> float:
        """Return an arm's share; those of all arms are computed only if they were overridden."""
        if getattr(self.shares, "__func__", None) is Environment.shares:
            return share_of(self._arena, self.committee, self._total, arm)
        found = checks.sequence("shares", self.shares(), f"a list of {self.bandit.arms} numbers")
        if len(found) != self.bandit.arms:
            raise InvalidInput("shares", f"a list of {self.bandit.arms} numbers", found)
        return checks.number(f"shares[{arm}]", found[arm], low=0.0, high=1.0)

    @property
    def _total(self) -> float:
        return float(self._arena.total_initial + self.committee.clock[0])

    def pull(self, arm: int) -> float:
        """Pull an arm and return its feedback."""
        index = checks.integer("arm", arm, low=0, high=self.bandit.arms - 1)
        arena, committee = self._arena, self.committee
        position = int(committee.clock[0])
        if not self._by_hand:
            self._open(-1)
        share = self._share(index)
        weight = self._weight(arena.code, arena.parameters, share)
        noise = self._number("noise", is_normal(arena.law), position)
        gate = self._number("gate", False, position) if reads_gate(arena.law) else 0.0
        seen = self._feedback(arena, index, weight, noise, gate)
        committee.clock[0] += 1
        committee.pulls[index] += 1
        if arena.memory > 0:
            take_seat(arena.memory, committee, index)
        if arena.seating.counted:
            joined = joins_committee(arena.seating, seen, self._number("join", False, position))
            leaves = self._number("leave", False, position)
            change_members(
                arena.seating, committee.members, committee.judges, index, joined, leaves
            )
        return float(seen)

    def _number(self, role: str, normal: bool, position: int) -> float:
        from affinity_bandits.kernels.compile import compile_kernel
        from affinity_bandits.simulation.draws import fill_normal, fill_uniform

        offset = position % self.BLOCK
        if offset == 0 or role not in self._blocks:
            block = np.empty(self.BLOCK)
            fill = compile_kernel(fill_normal if normal else fill_uniform, allocates=True)
            fill(block, self._keys[role], self._replicate, position - offset)
            self._blocks[role] = block
        return float(self._blocks[role][offset])


def key_words(seed: int, role: str) -> Any:
    """Return a role's key as the compiled generator takes it."""
    return np.array(stream_key(seed, role), dtype=np.uint64)
