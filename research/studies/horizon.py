"""The constants of the theorem on unknown horizons (docs/study/studies/horizon.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels.kernel import FloatArray, IntArray, bind, kernel
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, Constant, Power
from affinity_bandits.model.round_sums import bound_sums
from affinity_bandits.paper.item import (
    LEVEL,
    TWO_SIDED,
    CellRunner,
    Claim,
    Data,
    Item,
    PlantedWorld,
    column,
    join,
    proportion_above,
    student_interval,
)
from affinity_bandits.plots.style import GREY, line_style, new_figures
from affinity_bandits.policies import UCB1, Elimination
from affinity_bandits.policies.contracts import Round, RoundKernels, RoundPolicy, check_size
from affinity_bandits.policies.elimination import PublishedSchedule, Schedule
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.ucb_v import WeightedUCB, next_length


def smallest_exponent(exponent: float) -> float:
    """Return 2e/(2e+1), the smallest consistent exponent for f = x**e and an unknown horizon."""
    exponent = checks.number("exponent", exponent, low=0.0, open_low=True)
    return 2.0 * exponent / (2.0 * exponent + 1.0)


def information_bound(rate: float, exponent: float, members: int, free: int) -> float:
    """Return B of Lemma 1: an upper bound on the information about a rarely pulled arm.

    Information is the sum of share**(2 exponent) over the arm's pulls, up to and including the one
    that first brings it above t**rate pulls at a time t >= free.

    Args:
        rate: below `smallest_exponent`.
        exponent: e of f = x**e.
        members: initial members of the arm.
        free: n_0, until which pulls are unrestricted.
    """
    limit = smallest_exponent(exponent)
    rate = checks.number("rate", rate, low=0.0, open_low=True)
    if rate >= limit:
        raise InvalidInput("rate", f"below 2e/(2e+1) = {limit:.4g}: no bound exists", rate)
    members = checks.integer("members", members, low=1)
    decay = 2.0 * exponent * (1.0 / rate - 1.0)
    series = decay / (decay - 1.0)
    free = checks.integer("free", free, low=1)
    return float(free + 1.0 + (members + 1.0) ** (2.0 * exponent) * series)


def settled_after(constant: float, consistent: float, rate: float) -> float:
    """Return n_0 of Lemma 2: with probability 1/2, pulls stay below t**rate after n_0.

    Args:
        constant: C, where the expected pulls are at most C t**consistent for all t.
        consistent: the exponent a.
        rate: the exponent a' above a.
    """
    slack = rate - consistent
    if slack <= 0.0:
        raise InvalidInput("rate", f"above the exponent {consistent:g}", rate)
    smallest = (2.0 * constant * 2.0**consistent / (1.0 - 2.0**-slack)) ** (1.0 / slack)
    # The union is over doublings, so it begins at a power of two.
    return 2.0 ** math.ceil(math.log2(max(1.0, smallest)))


def fewest_failures(information: float, difference: float, settled: float) -> float:
    """Return the least probability in the second world of an event with probability p in the first.

    Args:
        information: its expectation in the first world.
        difference: between the arm's true means in the two worlds.
        settled: p.
    """
    return math.exp(-(0.5 * difference**2 * information + math.log(2.0)) / settled)


STAGES = 44
"""From a first horizon of 32 these reach 10**14."""
ROUNDS = 40
"""Laid out for each stage; its horizon ends before, whatever the schedule."""


class DoublingState(NamedTuple):
    """The schedule of every stage, and where the present one is."""

    repetitions: IntArray  # [stage * ROUNDS + r]: pulls of each arm in round r
    thresholds: FloatArray  # [r]
    horizons: IntArray  # [stage]
    stage: IntArray  # [0]
    spent: IntArray  # [0]: pulls of the stage so far
    round: IntArray  # [0]: the round to be played
    left: IntArray  # [0]: how many are active
    active: IntArray  # in increasing order, in the first `left` places
    means: FloatArray


@dataclass(frozen=True)
class Doubling(RoundPolicy):
    """Algorithm 1 for a horizon of h, restarted with 2 h at its end, and so on.

    The committee stays, so the winner holds nearly every seat when the next stage begins. A round
    that is longer than the rest of its stage is cut short and ignored.

    Args:
        schedule: of Algorithm 1.
        first: h.
    """

    name: ClassVar[str] = "doubling"
    schedule: Schedule = field(default=PublishedSchedule())
    first: int = 32

    def start(self, arms: int, horizon: int) -> DoublingState:
        check_size(arms, horizon)
        horizons = [self.first * 2**stage for stage in range(STAGES)]
        lengths = [
            min(self.schedule.repetitions(number, arms, one), one)
            for one in horizons
            for number in range(1, ROUNDS + 1)
        ]
        return DoublingState(
            repetitions=np.array(lengths, dtype=np.int64),
            thresholds=np.array([self.schedule.threshold(r) for r in range(1, ROUNDS + 1)]),
            horizons=np.array(horizons, dtype=np.int64),
            stage=counts(1),
            spent=counts(1),
            round=counts(1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            means=reals(arms),
        )

    @staticmethod
    def plan(state: DoublingState) -> Round:
        left = state.left[0]
        rest = state.horizons[state.stage[0]] - state.spent[0]
        if left == 1:
            return Round(state.active[:1], rest)
        wanted = state.repetitions[state.stage[0] * ROUNDS + state.round[0]]
        if wanted * left <= rest:
            return Round(state.active[:left], wanted)
        if rest >= left:
            return Round(state.active[:left], rest // left)
        return Round(state.active[:1], rest)

    @staticmethod
    def absorb(state: DoublingState, sums: FloatArray) -> None:
        left = state.left[0]
        rest = state.horizons[state.stage[0]] - state.spent[0]
        wanted = state.repetitions[state.stage[0] * ROUNDS + state.round[0]]
        if left > 1 and wanted * left <= rest:
            state.spent[0] += wanted * left
            highest = sums[0] / wanted
            for position in range(left):
                mean = sums[position] / wanted
                state.means[state.active[position]] = mean
                highest = max(highest, mean)
            kept = 0
            for position in range(left):
                arm = state.active[position]
                if highest - state.means[arm] <= state.thresholds[state.round[0]]:
                    state.active[kept] = arm
                    kept += 1
            state.left[0] = kept
            state.round[0] = min(state.round[0] + 1, ROUNDS - 1)
        elif left > 1 and rest >= left:
            state.spent[0] += rest // left * left
        else:
            state.spent[0] += rest
        if state.spent[0] == state.horizons[state.stage[0]]:
            state.stage[0] = min(state.stage[0] + 1, STAGES - 1)
            state.spent[0] = 0
            state.round[0] = 0
            state.left[0] = len(state.active)
            for arm in range(len(state.active)):
                state.active[arm] = arm


class ForcedRateState(NamedTuple):
    """That of `WeightedUCB`, and the rate."""

    rate: float
    growth: float
    code: int
    parameters: FloatArray
    breakpoints: FloatArray
    smooth: int
    initial: int
    arms: IntArray
    committee: IntArray
    total: IntArray
    information: FloatArray
    sums: FloatArray


@dataclass(frozen=True)
class ForcedRate(WeightedUCB):
    """Pull an arm with fewer than t**rate of t pulls, else the one with the best estimate.

    Estimates and rounds are those of `WeightedUCB`.

    Args:
        rate: the exponent.
    """

    name: ClassVar[str] = "forced-rate"
    rate: float = 0.5

    def start(self, arms: int, horizon: int) -> Any:
        given = super().start(arms, horizon)._asdict()
        del given["sigma"]
        return ForcedRateState(rate=self.rate, **given)

    @staticmethod
    def plan(state: Any) -> Round:
        arm = choose_forced(state)
        return Round(state.arms[arm : arm + 1], next_length(state, arm))

    def kernels(self) -> RoundKernels:
        absorb = bind(
            WeightedUCB.absorb, round_weights=bound_sums(self.bias.kernel), highest=choose_forced
        )
        return RoundKernels(self.plan, absorb, self.candidate)


@kernel
def choose_forced(state: Any) -> int:
    """Return the arm to pull, from a `ForcedRateState`."""
    made = max(1, state.total[0] - state.initial)
    best = 0
    largest = -math.inf
    for arm in range(len(state.arms)):
        known = state.information[arm]
        if known <= 0.0 or state.committee[arm] < made**state.rate:
            return arm
        if state.sums[arm] / known > largest:
            best = arm
            largest = state.sums[arm] / known
    return best


LABEL = "docs/study/studies/horizon.md"
INITIAL = (1, 1)
BATCHES = 10
"""Runs are averaged in so many batches: an exponent is fitted to each batch's mean regret."""
CLOSE = 0.05
"""How near to 2e/(2e+1) an exponent has to be, or how far above it."""
STUCK = 0.25
"""A run whose regret is above this part of the horizon has taken the wrong arm for the best."""

NAMES = {
    "declared": "Algorithm 1, declared, short rounds",
    "published": "Algorithm 1, declared, as published",
    "weighted": "weighted UCB",
    "often": "forced too often",
    "rare": "forced too rarely",
    "doubling": "Algorithm 1, doubled, short rounds",
    "ucb1": "UCB1, not told $f$",
}
WORLDS = ("first", "second")


@dataclass(frozen=True)
class Settings:
    """Two worlds that differ in the second arm alone, and how often each policy is run there."""

    runs: int
    many_runs: int
    slow_runs: int
    exponents: Sequence[float] = (1.0, 2.0)
    offsets: Sequence[float] = (-1.0, 0.0)
    worlds: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: {"first": (2.0, 1.0), "second": (2.0, 3.0)}
    )
    bias: Bias | None = None
    times: Sequence[int] = tuple(round(10 ** (x / 2)) for x in range(8, 19))
    slow_times: Sequence[int] = tuple(round(10 ** (x / 2)) for x in range(8, 13))


def run(settings: Settings, runner: CellRunner) -> Data:
    """Take the regret of every run at every time, in both worlds."""
    parts: list[tuple[tuple[float, str, str], Sequence[int], Cell, int]] = []
    for exponent, offset in zip(settings.exponents, settings.offsets, strict=True):
        bias = settings.bias or Power(exponent)
        matching = smallest_exponent(exponent)
        schedule = PublishedSchedule(offset)
        often = ForcedRate(bias, INITIAL, rate=matching + 0.1)
        rare = ForcedRate(bias, INITIAL, rate=matching - 0.2)
        endless: dict[str, tuple[AnyPolicy, int, Sequence[int]]] = {
            "weighted": (WeightedUCB(bias, INITIAL), settings.runs, settings.times),
            "often": (often, settings.runs, settings.times),
            "rare": (rare, settings.runs, settings.times),
            "doubling": (Doubling(schedule), settings.many_runs, settings.times),
            "ucb1": (UCB1(), settings.slow_runs, settings.slow_times),
        }
        for world, means in settings.worlds.items():
            bandit = AffinityBandit(means, bias, INITIAL, "gaussian")
            for name, (policy, runs, times) in endless.items():
                cell = Cell(bandit, policy, times[-1], tuple(times))
                parts.append(((exponent, world, name), times, cell, runs))
            told = {"declared": Elimination(schedule), "published": Elimination()}
            for (name, one), time in product(told.items(), settings.times):
                cell = Cell(bandit, one, time, (time,))
                parts.append(((exponent, world, name), (time,), cell, settings.runs))
    pieces: list[dict[str, Any]] = []
    for runs in dict.fromkeys(part[-1] for part in parts):
        alike = [part for part in parts if part[-1] == runs]
        results = runner.results([cell for _, _, cell, _ in alike], runs)
        for ((exponent, world, name), times, _, _), result in zip(alike, results, strict=True):
            regret = result.regret[0][:, -len(times) :]
            pieces.append(
                {
                    "exponent": np.full(regret.size, exponent),
                    "world": np.full(regret.size, world),
                    "means": np.full(regret.size, "{:g}, {:g}".format(*settings.worlds[world])),
                    "policy": np.full(regret.size, name),
                    "time": np.tile(times, runs),
                    "run": np.repeat(np.arange(runs), len(times)),
                    "regret": regret.ravel(),
                }
            )
    return join(pieces)


def regrets(data: Data, exponent: float, world: str, policy: str) -> tuple[FloatArray, FloatArray]:
    """Return the times, and the regret by [time, run]."""
    mine = (
        (column(data, "exponent") == exponent)
        & (column(data, "world") == world)
        & (column(data, "policy") == policy)
    )
    time, number = column(data, "time")[mine], column(data, "run")[mine]
    times = np.unique(time)
    regret = column(data, "regret")[mine][np.lexsort((number, time))]
    return times, regret.reshape(len(times), -1)


def growth(data: Data, exponent: float, world: str, policy: str) -> FloatArray:
    """Return the exponent of n that mean regret grows with, one a batch of runs."""
    times, regret = regrets(data, exponent, world, policy)
    means = np.stack([part.mean(axis=1) for part in np.array_split(regret, BATCHES, axis=1)])
    slopes: FloatArray = np.polyfit(np.log(times), np.log(means.T), 1)[0]
    return slopes


def claims(data: Data) -> list[Claim]:
    """Judge the page's claims on each policy."""
    found = []
    for exponent in np.unique(column(data, "exponent")).tolist():
        matching = smallest_exponent(exponent)
        bias = f"f(x) = x^{exponent:g}"
        found += [
            _matching(data, exponent, matching),
            _above(
                f"Forced exploration at the rate n^{matching + 0.1:.3g} costs more than it must, "
                f"in the first world, {bias}",
                growth(data, exponent, "first", "often"),
                matching + CLOSE,
            ),
            _above(
                f"Forced exploration at the rate n^{matching - 0.2:.3g} is deceived in the second "
                f"world, {bias}",
                growth(data, exponent, "second", "rare"),
                matching + CLOSE,
            ),
            _stuck(
                f"The doubling trick fails in the second world, {bias}: Algorithm 1, begun anew "
                "with twice the horizon, never lets go of an arm that won by chance",
                regrets(data, exponent, "second", "doubling"),
                0.001,
            ),
            _stuck(
                f"UCB1, which needs no horizon and does not know f, fails in the second world, "
                f"{bias}",
                regrets(data, exponent, "second", "ucb1"),
                0.05,
            ),
            _declared(data, exponent, "published", f"{bias}, Algorithm 1 as published", 100),
            _declared(data, exponent, "declared", f"{bias}, Algorithm 1 with short rounds", 1000),
        ]
    return found


def _matching(data: Data, exponent: float, matching: float) -> Claim:
    bounds = [
        student_interval(growth(data, exponent, world, "weighted"), TWO_SIDED) for world in WORLDS
    ]
    low = min(float(bound[1]) for bound in bounds)
    high = max(float(bound[2]) for bound in bounds)
    shown = " and ".join(f"{float(mean):.4f}" for mean, _, _ in bounds)
    return Claim(
        f"Weighted UCB, told f(x) = x^{exponent:g} and no horizon, has an exponent within "
        f"{CLOSE:g} of 2e/(2e+1) = {matching:.4g} in both worlds",
        LABEL,
        f"Student's bounds of the mean fitted exponent, {BATCHES} batches of runs, within "
        f"{CLOSE:g} of it, level {LEVEL:.1%} on each side",
        f"exponents {shown}, bounds {low:.4f} and {high:.4f}",
        matching - CLOSE < low and high < matching + CLOSE,
    )


def _above(sentence: str, samples: FloatArray, threshold: float) -> Claim:
    mean, low, _ = (float(value) for value in student_interval(samples, TWO_SIDED))
    return Claim(
        sentence,
        LABEL,
        f"Student's lower bound of the mean fitted exponent, {BATCHES} batches of runs, above "
        f"{threshold:.4g}, level {LEVEL:.1%}",
        f"exponent {mean:.4f}, lower bound {low:.4f}",
        low > threshold,
    )


def _stuck(sentence: str, found: tuple[FloatArray, FloatArray], threshold: float) -> Claim:
    times, regret = found
    stuck = regret > STUCK * times[:, None]
    # Wrong at the end, and in every decade before: regret that is linear, not late.
    in_every_case = stuck.all(axis=0)
    return proportion_above(
        f"{sentence}; regret is above n/{1 / STUCK:g} at every n from {times[0]:,} to "
        f"{times[-1]:,} in a part of the runs",
        LABEL,
        int(in_every_case.sum()),
        in_every_case.size,
        threshold,
    )


def _declared(data: Data, exponent: float, policy: str, words: str, factor: int) -> Claim:
    logs = []
    for world in WORLDS:
        times, known = regrets(data, exponent, world, policy)
        _, unknown = regrets(data, exponent, world, "weighted")
        # Runs are paired by number alone, so that there are ratios to take the spread of.
        parts = [np.array_split(table[-1], BATCHES) for table in (unknown, known)]
        means = [np.array([part.mean() for part in part_list]) for part_list in parts]
        logs.append(np.log10(means[0] / means[1]))
    mean, low, _ = min(
        (student_interval(log, TWO_SIDED) for log in logs), key=lambda bound: float(bound[1])
    )
    return Claim(
        f"A declared horizon is worth a factor of more than {factor:,} at n = {times[-1]:,}, "
        f"{words}: regret of weighted UCB over its own",
        LABEL,
        f"Student's lower bound of the mean log10 ratio, {BATCHES} batches of runs, above "
        f"{np.log10(factor):g} in both worlds, level {LEVEL:.1%}",
        f"smaller of the two: mean {float(mean):.4f}, lower bound {float(low):.4f}",
        bool(low > np.log10(factor)),
    )


def draw(data: Data) -> Any:
    """Draw mean regret against n, a column a world and a row an exponent."""
    exponents = np.unique(column(data, "exponent")).tolist()
    figure, panels = new_figures(len(exponents) * len(WORLDS), len(WORLDS), 7.6, 2.9)
    places = [(exponent, world) for exponent in exponents for world in WORLDS]
    for axes, (exponent, world) in zip(panels, places, strict=True):
        matching = smallest_exponent(exponent)
        for i, (name, shown) in enumerate(NAMES.items()):
            times, regret = regrets(data, exponent, world, name)
            axes.plot(times, regret.mean(axis=1), label=shown, **line_style(i))
        start = regrets(data, exponent, world, "weighted")[1].mean(axis=1)[0] * 0.4
        times = np.array([times.min(), 10**9])
        axes.plot(
            times,
            start * (times / times[0]) ** matching,
            color=GREY,
            linewidth=1.0,
            linestyle=(0, (1, 1)),
            label=r"slope $2e/(2e+1)$",
        )
        axes.set(xscale="log", yscale="log", ylim=(50.0, 10**9))
        axes.set(xlabel="$n$", ylabel="mean regret")
        means = column(data, "means")[column(data, "world") == world][0]
        title = f"$f(x) = x^{exponent:g}$, {world} world: means {means}"
        axes.set_title(title.replace("x^1$", "x$"), size=9.5)
        axes.label_outer()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure


CHEAP: dict[str, Any] = {
    "exponents": (1.0,),
    "offsets": (-1.0,),
    "times": tuple(10**x for x in range(4, 10)),
    "slow_times": (10**4,),
}
"""Settings of planted worlds, of which the verdicts alone are looked at."""

ITEM = Item(
    identity="horizon",
    title="Without a horizon regret grows as n^(2e/(2e+1)) in some world, even if f is known",
    labels=(LABEL,),
    notes=(
        "Two Gaussian arms (sigma = 1) with one initial member each, f(x) = x^e for e = 1 and 2. "
        "The first world has the means (2, 1), the second (2, 3): they differ in the second arm "
        "alone, as in the proof. Regret is taken at 11 times from 10^4 to 10^9 in exact rounds; "
        "UCB1, by steps, up to 10^6. Weighted UCB and forced exploration are told f and the "
        "initial members. Forced exploration pulls an arm with fewer than n^b pulls, else the one "
        "with the best estimate; b is 2e/(2e+1) plus .1 (too often) or minus .2 (too rarely). "
        "Algorithm 1 with short rounds has the schedule 2^(2r + c) with c = -1 for e = 1 and c = "
        "0 for e = 2, both where the horizon is declared and where it is doubled, from 32 on: "
        "rounds so short that failures of doubling can be seen, and long enough for hardly any "
        "mistake where the horizon is declared, chosen after a first look at c = -1, 0 and 5. "
        "With the published c = 5 the doubling trick fails, too, but too rarely to be seen. "
        "Exponents are least squares on logarithms of the mean regret of a batch of runs."
    ),
    settings={"quick": Settings(100, 2000, 40), "full": Settings(500, 10_000, 100)},
    run=run,
    claims=claims,
    draw=draw,
    planted={
        # Forced pulls are regretted without a bias, too.
        "no bias": PlantedWorld({**CHEAP, "bias": Constant()}, "FTFFFFF"),
        "arms that everybody can tell apart": PlantedWorld(
            {**CHEAP, "worlds": {"first": (20.0, 0.0), "second": (1.0, 40.0)}}, "-TFFF--"
        ),
    },
)
