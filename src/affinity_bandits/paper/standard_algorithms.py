"""Figures 1 to 5: the bias model, and standard algorithms that ignore or divide out the bias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.base.looks import LIGHT
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, Constant, Power
from affinity_bandits.paper.item import (
    LEVEL,
    SCALES,
    TWO_SIDED,
    CellRunner,
    Claim,
    Data,
    Item,
    column,
    draw_groups,
    in_every_case,
    mean_above,
    number_within,
    proportion_above,
    to_columns,
)
from affinity_bandits.plots.style import (
    GREY,
    GROUPS,
    METHODS,
    draw_band,
    draw_estimates,
    line_style,
    new_figure,
    new_panels,
)
from affinity_bandits.policies import EXP3, EXP3IX, UCB1, UCBV, DebiasedUCBV, EXP3Gains
from affinity_bandits.policies.contracts import StepPolicy
from affinity_bandits.policies.exp3 import ANYTIME
from affinity_bandits.simulation.intervals import mean_interval, proportion_interval
from affinity_bandits.theory.ucb import STATIC_PULLS, ucb_linear_regret

LABEL_1, LABEL_2 = "fig:biasModel1", "fig:biasModel2"
ROUNDING = 1e-12
"""The rounding error allowed for a number that is exact on paper."""


@dataclass(frozen=True)
class ModelSettings:
    """A committee with one member of each group; `picked` is the arm of Figure 2, from 1."""

    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.9, 0.8, 0.65, 0.5, 0.3)
    picked: int = 2


def biased_means(
    settings: ModelSettings, members: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Return the shares of the committee and the mean feedback at these shares."""
    bandit = AffinityBandit(settings.means, settings.bias)
    shares = [count / sum(members) for count in members]
    return shares, [bandit.expected_feedback(arm, share) for arm, share in enumerate(shares)]


def run_1(settings: ModelSettings, runner: CellRunner) -> Data:
    """Compute true and biased means, which are deterministic."""
    arms = len(settings.means)
    shares, biased = biased_means(settings, [1] * arms)
    return {
        "arm": list(range(1, arms + 1)),
        "share": shares,
        "true_mean": list(settings.means),
        "biased_mean": biased,
    }


def claims_1(data: Data) -> list[Claim]:
    """Judge the three sentences of the caption."""
    true, biased = column(data, "true_mean"), column(data, "biased_mean")
    arms = len(true)
    first, second = np.triu_indices(arms, 1)
    true_gaps, biased_gaps = true[first] - true[second], biased[first] - biased[second]
    return [
        number_within(
            "The expected biased feedback is the expected real reward divided by K",
            LABEL_1,
            float(np.abs(true / biased / arms - 1.0).max()),
            0.0,
            ROUNDING,
            "largest relative error of (real reward / biased feedback) = K",
        ),
        in_every_case(
            "The ordering of the observed rewards is identical to that of the real rewards",
            LABEL_1,
            int((np.sign(true_gaps) != np.sign(biased_gaps)).sum()),
            len(true_gaps),
            "pairs of arms",
        ),
        number_within(
            "The suboptimality gaps are divided by K",
            LABEL_1,
            float(np.abs(true_gaps / biased_gaps / arms - 1.0).max()),
            0.0,
            ROUNDING,
            "largest relative error of (real gap / observed gap) = K",
        ),
    ]


def draw_1(data: Data) -> Any:
    """Draw the real and the biased mean of every arm side by side."""
    figure, axes = new_figure()
    arm, share = column(data, "arm"), column(data, "share")
    true, biased = column(data, "true_mean"), column(data, "biased_mean")
    axes.bar(arm - 0.2, true, 0.38, color=GREY, label="expected real reward")
    bars = axes.bar(arm + 0.2, biased, 0.38, color=METHODS[0], label="expected biased feedback")
    axes.bar_label(bars, fmt="%.3g", padding=2, fontsize=8)
    axes.set_xticks(arm, [f"arm {i}\nfraction {x:.3g}" for i, x in zip(arm, share, strict=True)])
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("mean")
    axes.legend(frameon=False, loc="upper right")
    return figure


def run_2(settings: ModelSettings, runner: CellRunner) -> Data:
    """Compute shares and means before and after the pick, which are deterministic."""
    arms = range(1, len(settings.means) + 1)
    picked = [arm == settings.picked for arm in arms]
    before, biased_before = biased_means(settings, [1] * len(picked))
    after, biased_after = biased_means(settings, [1 + one for one in picked])
    return {
        "arm": list(arms),
        "picked": picked,
        "true_mean": list(settings.means),
        "share_before": before,
        "biased_mean_before": biased_before,
        "share_after": after,
        "biased_mean_after": biased_after,
    }


def claims_2(data: Data) -> list[Claim]:
    """Judge the two sentences of the caption."""
    true, picked = column(data, "true_mean"), column(data, "picked").astype(bool)
    before, after = column(data, "biased_mean_before"), column(data, "biased_mean_after")
    best = int(true.argmax())
    chosen = int(picked.argmax())
    flipped = before[chosen] < before[best] and after[chosen] > after[best]
    growth = column(data, "share_after") - column(data, "share_before")
    return [
        Claim(
            "The biased feedback for arm 2 now appears better than the one for arm 1, the real "
            "best arm",
            LABEL_2,
            "smaller before the pick, larger after it, while the real mean is smaller",
            f"arm {chosen + 1} against arm {best + 1}: {before[chosen]:.4g} against "
            f"{before[best]:.4g} before, {after[chosen]:.4g} against {after[best]:.4g} after",
            bool(flipped and true[chosen] < true[best]),
        ),
        in_every_case(
            "The fraction for arm 2 increases",
            LABEL_2,
            int((growth[picked] <= 0).sum()),
            int(picked.sum()),
            "fractions of picked arms",
        ),
        in_every_case(
            "The fraction for all the other arms decreases",
            LABEL_2,
            int((growth[~picked] >= 0).sum()),
            int((~picked).sum()),
            "fractions of other arms",
        ),
    ]


def draw_2(data: Data) -> Any:
    """Draw every arm's biased mean before and after the pick, beside its real one."""
    figure, axes = new_figure()
    arm = column(data, "arm")
    kinds = (
        ("true_mean", "expected real reward", GREY),
        ("biased_mean_before", "biased feedback, each arm picked once", METHODS[0]),
        ("biased_mean_after", "biased feedback after one more pick of arm 2", METHODS[1]),
    )
    for i, (name, shown, color) in enumerate(kinds):
        bars = axes.bar(arm + 0.28 * (i - 1), column(data, name), 0.26, color=color, label=shown)
        if name != "true_mean":
            axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7.5)
    shares = zip(arm, column(data, "share_before"), column(data, "share_after"), strict=True)
    axes.set_xticks(arm, [f"arm {i}\n{old:.2f} $\\to$ {new:.2f}" for i, old, new in shares])
    axes.grid(visible=False, axis="x")
    # Room above the bars, so that the legend covers none of them.
    top = 1.35 * column(data, "true_mean").max()
    axes.set(xlabel="arm, and its fraction before and after", ylabel="mean", ylim=(0.0, top))
    axes.legend(frameon=False, loc="upper right")
    return figure


FIGURE_1 = Item(
    identity="figure-1",
    title="When each arm has been picked once, the order stays and gaps shrink by K",
    labels=(LABEL_1,),
    notes=(
        "Computed, not simulated. The paper gives no numbers: five arms with means (.9, .8, "
        ".65, .5, .3), f(x) = x, and a committee of one member of each group, so that every "
        "arm has been picked exactly once."
    ),
    settings=dict.fromkeys(SCALES, ModelSettings()),
    run=run_1,
    claims=claims_1,
    draw=draw_1,
)
FIGURE_2 = Item(
    identity="figure-2",
    title="One more pick of arm 2 makes it look better than the real best arm",
    labels=(LABEL_2,),
    notes=(
        "Computed, not simulated. The paper gives no numbers: the five arms of Figure 1 with "
        "means (.9, .8, .65, .5, .3), f(x) = x and one member of each group; then arm 2 is "
        "picked once, which makes its fraction 2/6 and every other 1/6."
    ),
    settings=dict.fromkeys(SCALES, ModelSettings()),
    run=run_2,
    claims=claims_2,
    draw=draw_2,
)


FIGURE_3_LABEL = "fig:AlgsProbFail"
IGNORING: dict[str, StepPolicy] = {
    "UCB": UCB1(),
    "EXP3": EXP3(ANYTIME),
    "EXP3-IX": EXP3IX(ANYTIME),
}
CITED: dict[str, StepPolicy] = {"EXP3 on gains": EXP3Gains()}
"""What the paper cites for EXP3, with its authors' mixing, which is tuned to the horizon."""
HIGH_SHARE = 0.9
"""From this initial share on, that of the worse arm is called high; 1/11 is a low one."""
NEARLY_NEVER = 1e-5
"""A probability above it is called away from 0."""


@dataclass(frozen=True)
class ShareSettings:
    """The paper's own; other scales than `as-published` change only the number of repeats.

    `rare` has the repeats at the lowest share, where failures are rare: so many that three or more
    of them are seen with a probability above .999.
    """

    replicates: int
    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.4, 0.6)
    horizon: int = 20_000
    longer: int = 10
    long_replicates: int = 60
    second: int = 10
    first: Sequence[int] = (1, 3, 5, 10, 15, 20, 25, 30, 40, 50, 70, 90, 200)
    rare: Mapping[str, int] = field(
        default_factory=lambda: {"UCB": 15_000, "EXP3": 1_000, "EXP3-IX": 2_500}
    )


def run_3(settings: ShareSettings, runner: CellRunner) -> Data:
    """Count the runs with T_1(n) > n/2 by policy, initial share and n."""

    def cell(policy: StepPolicy, first: int, times: int = 1) -> Cell:
        bandit = AffinityBandit(settings.means, settings.bias, (first, settings.second))
        return Cell(bandit, policy, settings.horizon * times)

    low, *others = sorted(settings.first)
    policies = IGNORING | CITED
    points = [
        *((name, first, 1, settings.replicates) for name in policies for first in others),
        *((name, low, 1, settings.rare.get(name, settings.replicates)) for name in policies),
        *((name, max(others), settings.longer, settings.long_replicates) for name in IGNORING),
    ]
    rows = []
    for repeats in sorted({point[3] for point in points}):
        some = [point for point in points if point[3] == repeats]
        cells = [cell(policies[name], first, times) for name, first, times, _ in some]
        for (name, first, times, _), result in zip(
            some, runner.results(cells, repeats), strict=True
        ):
            share = first / (first + settings.second)
            hits = int(result.wrong_arm.sum())
            rows.append(
                {
                    "policy": name,
                    "initial_share": share,
                    "times": times,
                    "hits": hits,
                    "runs": repeats,
                }
            )
    return to_columns(rows, ("policy",))


def claims_3(data: Data) -> list[Claim]:
    """Judge the claims of the text and the caption."""
    share, times = column(data, "initial_share"), column(data, "times")

    def above(sentence: str, name: str, rows: Any, threshold: float) -> Claim:
        mine = rows & (column(data, "policy") == name)
        hits, runs = (column(data, one)[mine] for one in ("hits", "runs"))
        worst = int(np.argmin(hits / runs))  # of the shares that are called high
        return proportion_above(
            sentence, FIGURE_3_LABEL, int(hits[worst]), int(runs[worst]), threshold
        )

    high, low = share >= HIGH_SHARE, share == share.min()
    once, long = times == 1, times > 1
    more_likely = (
        f"is more likely to pull the worse arm more where its initial share is {HIGH_SHARE} or more"
    )
    cited = above(f"EXP3 as cited, on gains, {more_likely}", "EXP3 on gains", high & once, 0.5)
    return [
        *(above(f"{name} {more_likely}", name, high & once, 0.5) for name in IGNORING),
        *(
            above(
                f"{name} ends on the worse arm with a probability away from 0 even where the better"
                f" arm has {1 - share.min():.0%} of the initial pulls",
                *(name, low & once, NEARLY_NEVER),
            )
            for name in IGNORING
        ),
        *(
            above(
                f"{name} suffers linear regret: at ten times the horizon it is still more likely to"
                " pull the worse arm more",
                *(name, long, 0.5),
            )
            for name in IGNORING
        ),
        cited._replace(erratum="EXP3 in Figure 3"),
    ]


def draw_3(data: Data) -> Any:
    """Draw the probability against the initial share, with exact 95% intervals."""
    figure, axes = new_figure()
    once = column(data, "times") == 1

    def interval(rows: Any) -> Any:
        hits, runs = (int(column(data, one)[rows & once].sum()) for one in ("hits", "runs"))
        return proportion_interval(hits, runs)

    shown = {name: name for name in IGNORING} | dict.fromkeys(CITED, "EXP3 as cited")
    draw_groups(axes, data, "policy", shown, "initial_share", interval)
    axes.set(
        xlabel="initial share of the suboptimal arm, $T^0_1 / (T^0_1 + T^0_2)$",
        ylabel="P(suboptimal arm pulled more than n/2 times)",
        ylim=(-0.02, 1.02),
    )
    axes.legend(frameon=False, loc="upper left")
    return figure


FIGURE_3 = Item(
    identity="figure-3",
    title="Standard algorithms favor the worse arm when its initial share is high",
    labels=("fig:AlgsProbFail", "subsec:ignoreBias"),
    notes=(
        "Two Bernoulli arms with means (.4, .6), f(x) = x, n = 20,000, T0_2 = 10 and T0_1 from 1 "
        "to 200, as published. The text says 50 repeats and the caption 60; as-published takes "
        "60, but more at the lowest share, where 60 show nothing. The learning rates of EXP3 and "
        "EXP3-IX are not given: eta = sqrt(log K / (K t)), gamma = eta / 2, with which the regret "
        "is linear. With rates that are tuned to the horizon, as those of the cited EXP3 on gains "
        "are, it is not (errata). A probability counts as away from 0 if it is above 1e-5. Bands "
        "are exact 95% intervals."
    ),
    settings={
        "quick": ShareSettings(300),
        "full": ShareSettings(2000),
        "as-published": ShareSettings(60),
    },
    run=run_3,
    claims=claims_3,
    draw=draw_3,
)


LABEL_4 = "fig:debiasedUCB"
REWARDS = {"true": "UCB-V on true rewards", "debiased": "UCB-V on debiased feedback"}
SHOWN_PATHS = 40
RESAMPLES = 2000


@dataclass(frozen=True)
class DebiasingSettings:
    """The paper's own; other scales than `as-published` change only the number of paths."""

    paths: int
    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.4, 0.6)
    initial_pulls: Sequence[int] = (100, 10)
    horizon: int = 200_000
    checkpoints: int = 40


def run_4(settings: DebiasingSettings, runner: CellRunner) -> Data:
    """Follow T_1(t) along every path, in both environments."""
    n = settings.horizon
    spaced = np.round(np.geomspace(10, n, settings.checkpoints)).astype(int).tolist()
    times = sorted({*spaced, n // 16, n // 4, n})
    bandits = {
        "true": AffinityBandit(settings.means, Constant(), settings.initial_pulls),
        "debiased": AffinityBandit(settings.means, settings.bias, settings.initial_pulls),
    }
    policies = {"true": UCBV(), "debiased": DebiasedUCBV(settings.bias, settings.initial_pulls)}
    cells = [Cell(bandits[name], policies[name], n, tuple(times)) for name in REWARDS]
    results = runner.results(cells, settings.paths)
    rows = len(REWARDS) * settings.paths
    return {
        "feedback": np.repeat(list(REWARDS), settings.paths * len(times)).tolist(),
        "path": np.tile(np.repeat(np.arange(settings.paths), len(times)), len(REWARDS)),
        "time": np.tile(times, rows),
        "pulls": np.concatenate([result.pulls[0, :, :, 0].ravel() for result in results]),
    }


def paths_of(data: Data, name: str) -> tuple[FloatArray, FloatArray]:
    """Return the times and T_1 of one environment, [path, time]."""
    mine = column(data, "feedback") == name
    times = np.unique(column(data, "time")[mine]).astype(np.float64)
    return times, column(data, "pulls")[mine].astype(np.float64).reshape(-1, len(times))


def claims_4(data: Data) -> list[Claim]:
    """Judge the caption and the text: larger, more dispersed, faster than logarithmic.

    Two paths in a hundred stay with the suboptimal arm and dominate the mean. So independent pairs
    of a true and a debiased path are compared by exact tests.
    """
    times, true = paths_of(data, "true")
    _, debiased = paths_of(data, "debiased")
    n = int(times[-1])
    at_quarter, at_sixteenth = times.searchsorted((n // 4, n // 16))
    at_end = f"means {debiased[:, -1].mean():.4g} and {true[:, -1].mean():.4g} pulls"
    # T_1 = a + b log t gains the same in every factor of four, whatever a and b are.
    late = debiased[:, -1] - debiased[:, at_quarter]
    early = debiased[:, at_quarter] - debiased[:, at_sixteenth]
    return [
        _on_most_paths(
            "UCB-V pulls the suboptimal arm more often on debiased feedback than on true rewards",
            debiased[:, -1] > true[:, -1],
            at_end,
        ),
        _on_most_paths(
            "Its regret is significantly larger: more than twice that on true rewards",
            debiased[:, -1] > 2 * true[:, -1],
            at_end,
        ),
        more_dispersed(debiased[:, -1], true[:, -1], 2.0),
        _on_most_paths(
            "It is unlikely that it grows as log(t): T_1 gains more from n/4 to n than it did from "
            "n/16 to n/4",
            late > early,
            f"means {late.mean():.4g} against {early.mean():.4g}",
        ),
    ]


def _on_most_paths(sentence: str, flags: Any, means: str) -> Claim:
    claim = proportion_above(
        f"{sentence}, on most paths", LABEL_4, int(flags.sum()), len(flags), 0.5
    )
    return claim._replace(evidence=f"{claim.evidence}; {means}")


def more_dispersed(wide: FloatArray, narrow: FloatArray, factor: float) -> Claim:
    """Claim a ratio of standard deviations, by the bootstrap."""
    # The paths are far from Gaussian, so an F test would mislead; the seed is fixed.
    rng = np.random.default_rng(0)
    deviations = []
    for values in (wide, narrow):
        drawn = values[rng.integers(0, len(values), (RESAMPLES, len(values)))]
        deviations.append(drawn.std(axis=1, ddof=1))
    low = float(np.quantile(deviations[0] / deviations[1], 1.0 - LEVEL))
    ratio = wide.std(ddof=1) / narrow.std(ddof=1)
    return Claim(
        f"Its deviations are significantly larger: more than {factor:g} times as large",
        LABEL_4,
        f"bootstrap lower bound of the ratio of standard deviations above {factor:g}, level "
        f"{LEVEL:.1%}",
        f"{wide.std(ddof=1):.4g} against {narrow.std(ddof=1):.4g}, ratio {ratio:.4g}, lower bound "
        f"{low:.4g}",
        low > factor,
    )


def draw_4(data: Data) -> Any:
    """Draw T_1(t) / sqrt(t): some paths thin, the mean thick with its 95% interval."""
    figure, axes = new_figure()
    for i, (name, shown) in enumerate(REWARDS.items()):
        times, pulls = paths_of(data, name)
        scaled = pulls / np.sqrt(times)
        color = line_style(i)["color"]
        axes.plot(times, scaled[:SHOWN_PATHS].T, color=color, linewidth=0.5, alpha=0.3)
        mean, low, high = mean_interval(scaled, 0.0, np.sqrt(times))
        draw_band(axes, times, low, high, color)
        axes.plot(times, mean, color=color, linewidth=2.6, label=f"{shown}, mean")
    axes.set(xscale="log", yscale="log", ylim=(0.1, 1000), xlim=(times[0], times[-1]))
    axes.set(xlabel="t", ylabel=r"$T_1(t) / \sqrt{t}$")
    axes.legend(frameon=False, loc="upper left")
    return figure


FIGURE_4 = Item(
    identity="figure-4",
    title="Debiased feedback makes UCB-V's regret larger and far more dispersed",
    labels=(LABEL_4, "subsec:debiasingFig"),
    notes=(
        "Two Bernoulli arms with means (.4, .6), f(x) = x, T0 = (100, 10), n = 200,000, UCB-V "
        "with c = 1 and zeta = 1.2, as published, with 40 paths. On debiased feedback b is the "
        "largest sample of the arm so far; how it starts is not given, and it starts from 1, "
        "because from 0 an arm whose first feedback is 0 is never pulled again. About two paths in "
        "a hundred stay with the suboptimal arm all the same. Thin lines are 40 paths, bands 95% "
        "intervals of the mean."
    ),
    settings={
        "quick": DebiasingSettings(120),
        "full": DebiasingSettings(2000),
        "as-published": DebiasingSettings(40),
    },
    run=run_4,
    claims=claims_4,
    draw=draw_4,
)


SLOPE = 0.098
PART = 0.99
ENVIRONMENTS = {"true": "true means", "biased": "biased, at t = 1", "frozen": "frozen"}


@dataclass(frozen=True)
class TheoremSettings:
    """The theorem's own; how far beyond its first horizon we look is ours."""

    replicates: int
    horizon: int
    horizons: int = 9
    bias: Bias = field(default_factory=Power)
    means: tuple[float, float] = (0.9, 0.8)
    initial: tuple[int, int] = (10, round(STATIC_PULLS**1.5))
    frozen: int = STATIC_PULLS

    @property
    def first(self) -> int:
        """t_1 of Lemma E.4, the first horizon the theorem speaks of."""
        return self.frozen - self.initial[0] + 1


def run_5(settings: TheoremSettings, runner: CellRunner) -> Data:
    """Count pulls of the suboptimal arm at horizons from the theorem's first one on."""
    bandit = AffinityBandit(settings.means, settings.bias, settings.initial)
    first = min(settings.first, settings.horizon)
    times = np.unique(np.geomspace(first, settings.horizon, settings.horizons).astype(np.int64))
    cell = Cell(bandit, UCB1(), settings.horizon, tuple(int(t) for t in times))
    (result,) = runner.results([cell], settings.replicates)
    pulls = result.pulls[0, :, :, 1]
    total = settings.frozen + settings.initial[1]
    shares = {
        "biased": [pulled / sum(settings.initial) for pulled in settings.initial],
        "frozen": [settings.frozen / total, settings.initial[1] / total],
    }
    proof = ucb_linear_regret(settings.frozen, settings.initial, settings.means)
    constants: dict[str, float] = {
        "eps": proof.eps,
        "condition_has": proof.condition_one[0],
        "condition_needs": proof.condition_one[1],
        "failure_bound": 1.0 - proof.probability,
    }
    for arm in (0, 1):
        constants[f"true_{arm + 1}"] = settings.means[arm]
        for name, given in shares.items():
            constants[f"{name}_{arm + 1}"] = bandit.expected_feedback(arm, given[arm])
    return {
        "n": np.tile(result.checkpoints, len(pulls)),
        "replicate": np.repeat(result.replicates, len(result.checkpoints)),
        "suboptimal_pulls": pulls.ravel(),
        "regret": result.regret[0].ravel(),
        **{name: np.full(pulls.size, value) for name, value in constants.items()},
    }


def claims_5(data: Data) -> list[Claim]:
    """Judge the theorem at the horizon at which it does worst, and its choice of numbers."""
    n, pulls = column(data, "n"), column(data, "suboptimal_pulls")
    slopes = {time: (column(data, "regret") / n)[n == time] for time in np.unique(n)}
    possible = (0.0, _gap(data))
    lowest = min(
        slopes, key=lambda time: float(mean_interval(slopes[time], *possible, TWO_SIDED)[1])
    )
    hits = {time: int((pulls >= PART * n)[n == time].sum()) for time in slopes}
    fewest = min(hits, key=lambda time: hits[time])
    frozen = [float(column(data, f"frozen_{arm}")[0]) for arm in (1, 2)]
    biased = [float(column(data, f"biased_{arm}")[0]) for arm in (1, 2)]
    return [
        mean_above(
            f"UCB suffers linear regret: at least {SLOPE} n at each of {len(slopes)} horizons from "
            f"{n.min():,} to {n.max():,} (the worst: {lowest:,})",
            "thm:ucbLinearRegretAppendix",
            slopes[lowest],
            SLOPE,
            possible,
            " n",
        ),
        proportion_above(
            f"P(T_2(n) >= {PART} n) >= {PART} at each of them (the worst: {fewest:,})",
            "lem:ucbParameterChoicesAppendix",
            hits[fewest],
            int((n == fewest).sum()),
            PART,
        ),
        Claim(
            "At t = 1 the frozen means lie between the biased ones, and the suboptimal arm is best "
            "in both environments",
            "fig:UCB",
            "biased_1 <= frozen_1 < frozen_2 <= biased_2",
            f"{biased[0]:.2g} <= {frozen[0]:.2g} < {frozen[1]:.4f} <= {biased[1]:.4f}",
            biased[0] <= frozen[0] < frozen[1] <= biased[1],
        ),
        number_within(
            "The chosen numbers satisfy eps t_1 >= max(8 / gap^2, 1 + 8 log(t_1) / gap^2)",
            "eq:ucbNegResultConditionOne",
            float((column(data, "condition_has") - column(data, "condition_needs"))[0]),
            0.0,
            math.inf,
            "the left side less the right one",
        ),
        number_within(
            "They make the bound on P(T_2(n) < (1 - eps) n) at most 0.01, with eps <= 0.01",
            "eq:ucbNegResultConditionTwo",
            max(float(column(data, "failure_bound")[0]), float(column(data, "eps")[0])),
            0.0,
            1.0 - PART,
            "the larger of the bound and eps",
        ),
    ]


def draw_5(data: Data) -> Any:
    """Draw the three environments on the left and regret over n on the right."""
    figure, (left, right) = new_panels(1, 2, 8.6, 3.8, width_ratios=(1.0, 1.15))
    left.set_axisbelow(True)
    places = np.arange(len(ENVIRONMENTS))
    for arm, label in ((1, "arm 1, truly better"), (2, "arm 2, favored")):
        heights = [float(column(data, f"{name}_{arm}")[0]) for name in ENVIRONMENTS]
        bars = left.bar(
            places + 0.38 * (arm - 1.5),
            heights,
            0.36,
            label=label,
            color=GROUPS[arm - 1],
        )
        left.bar_label(bars, [_short(value) for value in heights], padding=2, fontsize=8)
    left.set_xticks(places, list(ENVIRONMENTS.values()))
    left.grid(visible=False, axis="x")
    left.set(ylim=(0, 1.2), yticks=np.linspace(0, 1, 6), ylabel="mean feedback")
    left.legend(frameon=False, loc="upper center", ncols=2, fontsize=8.5)

    n = column(data, "n")
    times = np.unique(n)
    bands = np.array(
        [mean_interval((column(data, "regret") / n)[n == t], 0.0, _gap(data)) for t in times]
    )
    draw_estimates(right, times, bands, 0, "UCB, mean")
    right.axhline(
        SLOPE, color=LIGHT["ink"], linestyle="--", linewidth=1.2, label=f"the bound, {SLOPE}"
    )
    right.set_xscale("log")
    ticks = [t for t in (2e4, 1e5, 1e6, 1e7) if times[0] <= t <= times[-1]]
    right.set_xticks(ticks, [f"{t:,.0f}" for t in ticks])
    right.xaxis.set_minor_formatter("")
    lowest = min(0.0974, 0.99 * float(bands[:, 1].min()))
    right.set(ylim=(lowest, 0.1004), xlabel="horizon n", ylabel="regret / n")
    right.legend(frameon=False, loc="center")
    return figure


def _gap(data: Data) -> float:
    return abs(float(column(data, "true_1")[0]) - float(column(data, "true_2")[0]))


def _short(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-") if value < 1e-3 else f"{value:.3f}".rstrip("0")


FIGURE_5 = Item(
    identity="figure-5",
    title="UCB suffers linear regret when the worse arm starts with the larger share",
    labels=("thm:ucbLinearRegretAppendix", "fig:UCB", "lem:ucbParameterChoicesAppendix"),
    notes=(
        "Two Bernoulli arms with means (.9, .8), f(x) = x, T0 = (10, 16216^1.5), rounded to a "
        "whole number; the frozen environment has 16216 in place of 10, as the arithmetic of the "
        "proof does (the lemma's statement has the digits as 16126, with which its first condition "
        "fails). The second condition is taken with delta where 1 - delta is printed. The theorem "
        "speaks of every n >= 16207; we look at horizons evenly spaced in the logarithm from "
        "there, each claim at the one where it does worst. Bands are 95% intervals of the mean."
    ),
    settings={
        "quick": TheoremSettings(700, 150_000),
        "full": TheoremSettings(2000, 1_000_000),
        "as-published": TheoremSettings(600, 10_000_000),
    },
    run=run_5,
    claims=claims_5,
    draw=draw_5,
)
