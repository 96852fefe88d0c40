"""Algorithm 1 of the paper, and policies that drop arms at the end of phases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, UnknownName
from affinity_bandits.base.registry import Description
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies.contracts import FOREVER, Round, RoundPolicy, check_size
from affinity_bandits.policies.explaining import PlayedRound, RoundExplanation
from affinity_bandits.policies.state import counts, reals


@runtime_checkable
class Schedule(Protocol):
    """How long each round lasts and by how much an arm must lag to be dropped."""

    def repetitions(self, round_number: int, arms: int, horizon: int) -> int:
        """Return m_r for round r = 1, 2, ..., at least 1."""

    def threshold(self, round_number: int) -> float:
        """Return the lag beyond which an arm is dropped after round r."""

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""


@dataclass(frozen=True)
class PublishedSchedule(Description):
    """m_r = ceil(2**(2 r + c) log(12/pi**2 K**2 r**2 n)), dropped beyond 2**-r.

    This is Equation (10) with c = 5, which the analysis uses; the statement of
    Theorem 4.1 has c = 6.

    Args:
        offset: the constant c.
    """

    name: ClassVar[str] = "published"
    offset: float = 5.0

    def __post_init__(self) -> None:
        self._check(checks.number, "offset", low=-60.0, high=60.0)

    def repetitions(self, round_number: int, arms: int, horizon: int) -> int:
        """Return m_r of Equation (10), rounded up."""
        # A sum of logarithms is more precise than the logarithm of the product.
        log_term = math.log(12.0 / math.pi**2) + 2.0 * math.log(arms * round_number)
        pulls = 2.0 ** (2 * round_number + self.offset) * (log_term + math.log(horizon))
        return max(1, math.ceil(pulls)) if pulls < FOREVER else FOREVER

    def threshold(self, round_number: int) -> float:
        """Return 2**-r."""
        return 2.0**-round_number


@dataclass(frozen=True)
class ListedSchedule(Description):
    """Rounds listed one by one; the last is repeated.

    Args:
        rounds: pairs (repetitions, threshold).
    """

    name: ClassVar[str] = "listed"
    rounds: Sequence[tuple[int, float]]

    def __post_init__(self) -> None:
        pairs = checks.sequence("rounds", self.rounds, "a list of (repetitions, threshold) pairs")
        cleaned = []
        for index, pair in enumerate(pairs):
            place = f"rounds[{index}]"
            items = checks.sequence(place, pair, "a pair (repetitions, threshold)")
            if len(items) != 2:
                raise InvalidInput(place, "a pair (repetitions, threshold)", pair)
            repetitions = checks.integer(f"{place}.repetitions", items[0], low=1)
            cleaned.append((repetitions, checks.number(f"{place}.threshold", items[1], low=0.0)))
        if not cleaned:
            raise InvalidInput("rounds", "a list of at least one round", self.rounds)
        self._set(rounds=tuple(cleaned))

    def repetitions(self, round_number: int, arms: int, horizon: int) -> int:
        """Return the listed repetitions."""
        return self.rounds[min(round_number, len(self.rounds)) - 1][0]

    def threshold(self, round_number: int) -> float:
        """Return the listed threshold."""
        return self.rounds[min(round_number, len(self.rounds)) - 1][1]

    def __str__(self) -> str:
        return f"listed({len(self.rounds)} rounds)"


SCHEDULES: dict[str, type[PublishedSchedule] | type[ListedSchedule]] = {
    "published": PublishedSchedule,
    "listed": ListedSchedule,
}


def schedule_from_json(data: object) -> Schedule:
    """Rebuild a schedule from its `to_json`."""
    given = checks.table("schedule", data)
    name = given.pop("name")
    if name not in SCHEDULES:
        raise UnknownName("schedule", name, SCHEDULES)
    checks.settings(f"parameter of schedule {name}", SCHEDULES[name], given)
    return SCHEDULES[name](**given)


MOST_ROUNDS = 1000
"""Most rounds in a state; only listed schedules can have more within the horizon."""


class EliminationState(NamedTuple):
    """The active arms, the round, and the schedule as numbers."""

    repetitions: IntArray  # [r]: pulls of each arm in round r; round 0 is the discarded one
    thresholds: FloatArray  # [r]
    round: IntArray  # [0]: the round to be played
    left: IntArray  # [0]: how many are active
    active: IntArray  # the active arms in increasing order, in the first `left` places
    dropped_in: IntArray  # per arm: the round after which it was dropped, 0 if it is active
    means: FloatArray  # per arm: its mean feedback in the last round it took part in


@dataclass(frozen=True)
class Elimination(RoundPolicy):
    """Algorithm 1: every arm in turn until one can drop.

    Algorithm 1, with the details of Algorithm 2.

    Pull each arm once and discard. Then, in round r = 1, 2, ..., pull each active arm m_r times
    in turn, in increasing order, and keep arm i iff max_j mean_j(r) - mean_i(r) <= 2**-r, with
    means over this round alone. The last arm left is played to the end.

    Args:
        schedule: m_r and the threshold; `PublishedSchedule()` is the paper's.
        discard_first: whether to begin with a discarded pull of each arm, as the appendix does.
    """

    name: ClassVar[str] = "elimination"
    eliminates: ClassVar[bool] = True
    rule: ClassVar[str] = (
        "Groups take turns in equal numbers. At the end of each round, every group that is"
        " further behind the best than the round tolerates is dropped; rounds get longer and"
        " tolerate less, until one group is left."
    )
    schedule: Schedule = field(default=PublishedSchedule())
    discard_first: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.schedule, Schedule):
            raise InvalidInput("schedule", "a schedule such as PublishedSchedule()", self.schedule)
        self._check(checks.flag, "discard_first")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        given = dict(data)
        if "offset" in given and "schedule" not in given:
            # The short form of the command line: elimination:offset=3.
            given["schedule"] = {"name": "published", "offset": given.pop("offset")}
        if isinstance(given.get("schedule"), Mapping | str):
            given["schedule"] = schedule_from_json(given["schedule"])
        return super().from_json(given)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(PublishedSchedule(-2.0)), cls(PublishedSchedule(-4.0), discard_first=False)]

    @property
    def assumes(self) -> Feedback:
        """1-subGaussian noise (Assumption 2.1), for rounds of at least the published length."""
        plan = self.schedule
        proven = isinstance(plan, PublishedSchedule) and plan.offset >= PublishedSchedule().offset
        return Feedback(sigma=1.0) if proven else ANYTHING

    @property
    def warm_up_rounds(self) -> int:
        return 1 if self.discard_first else 0

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        if played.number < self.warm_up_rounds:
            return RoundExplanation(
                compares=False, purpose="they even out what raters had seen before"
            )
        number = min(played.number + 1 - self.warm_up_rounds, MOST_ROUNDS - 1)
        return RoundExplanation(tolerance=float(self.schedule.threshold(number)))

    def start(self, arms: int, horizon: int) -> EliminationState:
        check_size(arms, horizon)
        repetitions, thresholds = [1], [np.inf]
        planned = 0
        while planned <= horizon and len(repetitions) < MOST_ROUNDS:
            number = len(repetitions)
            repetitions.append(self.schedule.repetitions(number, arms, horizon))
            thresholds.append(self.schedule.threshold(number))
            # Two arms at least are in every round that matters.
            planned += 2 * repetitions[-1]
        thresholds[0] = np.finfo(np.float64).max  # finite, so that a saved state is plain JSON
        return EliminationState(
            repetitions=np.array(repetitions, dtype=np.int64),
            thresholds=np.array(thresholds, dtype=np.float64),
            round=counts(1, 0 if self.discard_first else 1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            dropped_in=counts(arms),
            means=reals(arms),
        )

    @staticmethod
    def plan(state: EliminationState) -> Round:
        left = state.left[0]
        if left == 1:
            return Round(state.active[:left], FOREVER)
        last = len(state.repetitions) - 1
        return Round(state.active[:left], state.repetitions[min(state.round[0], last)])

    @staticmethod
    def absorb(state: EliminationState, sums: FloatArray) -> None:
        number = min(state.round[0], len(state.repetitions) - 1)
        repetitions = state.repetitions[number]
        left = state.left[0]
        highest = sums[0] / repetitions
        for position in range(left):
            mean = sums[position] / repetitions
            state.means[state.active[position]] = mean
            highest = max(highest, mean)
        kept = 0
        for position in range(left):
            arm = state.active[position]
            if highest - state.means[arm] <= state.thresholds[number]:
                state.active[kept] = arm
                kept += 1
            else:
                state.dropped_in[arm] = state.round[0]
        state.left[0] = kept
        state.round[0] += 1

    @staticmethod
    def candidate(state: EliminationState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)

    def __str__(self) -> str:
        if isinstance(self.schedule, PublishedSchedule):
            offset = self.schedule.offset
            changed = [] if offset == PublishedSchedule().offset else [f"offset={offset:g}"]
        else:
            changed = [f"schedule={self.schedule}"]
        if not self.discard_first:
            changed.append("discard_first=False")
        return f"{self.name}({', '.join(changed)})" if changed else self.name


class PhasedEliminationState(NamedTuple):
    """The phases, the current one, the arms left, and the sums that rank them."""

    repetitions: IntArray  # [phase]
    keep: IntArray  # [phase]: arms left after it
    cumulative: int  # 1: rank by the means of all phases; 0: of this phase alone
    phase: IntArray  # [0]
    left: IntArray  # [0]
    active: IntArray  # the active arms in increasing order, in the first `left` places
    dropped_in: IntArray  # per arm: the phase (from 1) after which it was dropped, 0 if active
    pulls: IntArray  # per arm: pulls that count for its mean
    sums: FloatArray
    means: FloatArray


@dataclass(frozen=True)
class PhasedElimination(RoundPolicy):
    """A fixed list of phases, each of which keeps the best arms; the last arms are played on."""

    eliminates: ClassVar[bool] = True
    rule: ClassVar[str] = (
        "Groups take turns in equal numbers. At the end of each round a fixed number of groups,"
        " those with the lowest scores, is dropped, until one is left."
    )
    cumulative: ClassVar[bool] = False

    def phases(self, arms: int, horizon: int) -> list[tuple[int, int]]:
        """Return how often each arm left is pulled, and how many are kept after that, by phase."""
        raise NotImplementedError

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        kept = len(played.candidates) - len(played.dropped)
        best, stay = (f"best {kept:,}", "stay") if kept > 1 else ("best", "stays")
        ranked = " over all rounds so far" if self.cumulative else ""
        return RoundExplanation(
            dropped_because=f"Only the {best} by score{ranked} {stay} after this round"
        )

    def start(self, arms: int, horizon: int) -> PhasedEliminationState:
        check_size(arms, horizon)
        phases = self.phases(arms, horizon)
        return PhasedEliminationState(
            repetitions=np.array([pulls for pulls, _ in phases], dtype=np.int64),
            keep=np.array([kept for _, kept in phases], dtype=np.int64),
            cumulative=int(self.cumulative),
            phase=counts(1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            dropped_in=counts(arms),
            pulls=counts(arms),
            sums=reals(arms),
            means=reals(arms),
        )

    @staticmethod
    def plan(state: PhasedEliminationState) -> Round:
        left = state.left[0]
        if state.phase[0] >= len(state.repetitions):
            return Round(state.active[:left], FOREVER)
        return Round(state.active[:left], state.repetitions[state.phase[0]])

    @staticmethod
    def absorb(state: PhasedEliminationState, sums: FloatArray) -> None:
        phase = state.phase[0]
        left = state.left[0]
        for position in range(left):
            arm = state.active[position]
            if state.cumulative == 0:
                state.pulls[arm] = 0
                state.sums[arm] = 0.0
            state.pulls[arm] += state.repetitions[phase]
            state.sums[arm] += sums[position]
            state.means[arm] = state.sums[arm] / state.pulls[arm]
        for _ in range(left - state.keep[phase]):
            worst = -1
            for position in range(left):
                arm = state.active[position]
                # "<=": among equals the lower number is kept.
                if state.dropped_in[arm] == 0 and (
                    worst == -1 or state.means[arm] <= state.means[worst]
                ):
                    worst = arm
            state.dropped_in[worst] = phase + 1
        kept = 0
        for position in range(left):
            arm = state.active[position]
            if state.dropped_in[arm] == 0:
                state.active[kept] = arm
                kept += 1
        state.left[0] = kept
        state.phase[0] += 1

    @staticmethod
    def candidate(state: PhasedEliminationState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)


@dataclass(frozen=True)
class Budgeted(PhasedElimination):
    """Phases that spend the part `budget` of the horizon on exploring."""

    assumes = Feedback(sigma=0.5)  # the sources, for [0, 1]; proven by Hoeffding's inequality
    budget: float = 0.5

    def __post_init__(self) -> None:
        self._check(checks.number, "budget", low=0.0, high=1.0, open_low=True)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(budget=0.1)]


@dataclass(frozen=True)
class ExploreThenCommit(PhasedElimination):
    """Every arm m times in turn, then the largest mean.

    Args:
        pulls_per_arm: m; None for ceil(n**(2/3) / K).
    """

    name: ClassVar[str] = "explore-then-commit"
    assumes = Feedback(sigma=1.0)  # Lattimore, Szepesvari 2020, Theorem 6.1
    pulls_per_arm: int | None = None

    def __post_init__(self) -> None:
        self._check_optional(checks.integer, "pulls_per_arm", low=1)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(pulls_per_arm=7)]

    def phases(self, arms: int, horizon: int) -> list[tuple[int, int]]:
        return [(self.pulls_per_arm or math.ceil(horizon ** (2.0 / 3.0) / arms), 1)]


@dataclass(frozen=True)
class SequentialHalving(Budgeted):
    """Drop the worse half after each phase.

    With B = floor(budget n), a phase with k arms left pulls each floor(B / (k ceil(log2 K)))
    times, at least once, and keeps the ceil(k / 2) best by the means of this phase alone (Karnin,
    Koren, Somekh 2013).

    Args:
        budget: the part of the horizon for exploring.
    """

    name: ClassVar[str] = "sequential-halving"

    def phases(self, arms: int, horizon: int) -> list[tuple[int, int]]:
        total = math.ceil(math.log2(arms))
        spend = math.floor(self.budget * horizon)
        phases = []
        left = arms
        for _ in range(total):
            repetitions = max(1, spend // (left * total))
            left = math.ceil(left / 2)
            phases.append((repetitions, left))
        return phases


@dataclass(frozen=True)
class SuccessiveRejects(Budgeted):
    """Drop the worst arm after each of K - 1 phases.

    With B = floor(budget n), log_K = 1/2 + sum_{i=2}^K 1/i and
    n_k = ceil((B - K) / (log_K (K + 1 - k))), phase k pulls each arm left n_k - n_{k-1} times, at
    least once, and drops the arm with the lowest mean over all phases (Audibert, Bubeck, Munos
    2010).

    Args:
        budget: the part of the horizon for exploring.
    """

    name: ClassVar[str] = "successive-rejects"
    cumulative: ClassVar[bool] = True

    def phases(self, arms: int, horizon: int) -> list[tuple[int, int]]:
        log_k = 0.5 + sum(1.0 / i for i in range(2, arms + 1))
        spare = max(0, math.floor(self.budget * horizon) - arms)
        ends = [math.ceil(spare / (log_k * (arms + 1 - k))) for k in range(1, arms)]
        lengths = (max(1, end - before) for before, end in zip([0, *ends], ends, strict=False))
        return [(length, arms - k) for k, length in enumerate(lengths, start=1)]
