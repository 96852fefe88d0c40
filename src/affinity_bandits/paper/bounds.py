"""The two bounds: Algorithm 1's regret lies between what no policy beats and what is promised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.experiments import Cell
from affinity_bandits.paper.evidence import LEVEL, TWO_SIDED, always
from affinity_bandits.paper.failure_points import power_of_ten
from affinity_bandits.paper.figure_12 import NAMES, bias_models
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import COLOURS, draw_band, new_panels
from affinity_bandits.policies import Elimination
from affinity_bandits.simulation.intervals import (
    mean_interval,
    middle_runs,
    proportion_interval,
)
from affinity_bandits.theory import growth_exponent, lower_bound, regret_bound

UPPER = "thm:eliminationUnknownBiasAppendix"
LOWER = "thm:lowerBoundRegretAppendix"
ORDER = "thm:lowerBoundRegret"
COMPARISON = "cor:comparisonUpperLowerBound"

LARGEST_EXPONENT = 0.1
"""What is left of the growth in K once the corollary's factor is taken out: log(12/pi^2 K^2 n^3)
in the upper bound still grows, by less than a tenth from 4 to 64 arms."""


MOST_ABOVE = 0.01
"""How often a run could exceed the upper bound on its mean without being seen here."""


class Instance(NamedTuple):
    """A bandit by what makes it up, and a horizon."""

    bias: str
    arms: int
    gaps: str
    imbalance: int
    horizon: int

    def bandit(self, biases: Mapping[str, Bias]) -> AffinityBandit:
        """Return the bandit; the second arm, a worse one, has the initial advantage."""
        others = {
            "equal": np.full(self.arms - 1, 0.3),
            "spread": np.linspace(0.8, 0.1, self.arms - 1) if self.arms > 2 else np.array([0.8]),
        }[self.gaps]
        initial = (1, 1 + self.imbalance, *[1] * (self.arms - 2))
        return AffinityBandit((0.9, *others), biases[self.bias], initial, noise="gaussian")


@dataclass(frozen=True)
class Settings:
    """The theorems are about every instance; which ones are looked at is ours."""

    replicates: int
    policy: AnyPolicy = field(default_factory=Elimination)
    biases: Mapping[str, Bias] = field(default_factory=bias_models)
    arms: Sequence[int] = (2, 4, 8, 16, 32, 64)
    gaps: Sequence[str] = ("equal", "spread")
    imbalances: Sequence[int] = (0, 40, 400)
    horizons: Sequence[int] = (10**10, 10**15)
    series_arms: int = 8
    series: Sequence[int] = tuple(10**exponent for exponent in (6, 7, 8, 9, 11, 12, 13, 14))

    def instances(self) -> Iterator[Instance]:
        """Yield the grid, and then more horizons for one number of arms."""
        for bias in self.biases:
            for arms in self.arms:
                for gaps in self.gaps:
                    for imbalance in self.imbalances:
                        for horizon in self.horizons:
                            yield Instance(bias, arms, gaps, imbalance, horizon)
            for horizon in self.series:
                yield Instance(bias, self.series_arms, "equal", 0, horizon)


def run(settings: Settings, runner: CellRunner) -> Data:
    """Measure the regret of every instance and compute its bounds."""
    instances = list(settings.instances())
    bandits = [instance.bandit(settings.biases) for instance in instances]
    results = runner.results(
        [
            Cell(bandit, settings.policy, instance.horizon)
            for bandit, instance in zip(bandits, instances, strict=True)
        ],
        settings.replicates,
    )
    # One L' for all numbers of arms, as the corollary has it: that of the widest range of shares.
    growth = {
        name: growth_exponent(bias, max(settings.arms)) for name, bias in settings.biases.items()
    }
    rows = []
    for instance, bandit, result in zip(instances, bandits, results, strict=True):
        regret = result.regret[0, :, -1]
        mean, low, _ = mean_interval(regret, 0.0, result.most_regret[-1], TWO_SIDED)
        _, run_low, run_high = middle_runs(regret)
        upper = regret_bound(bandit, instance.horizon)
        rows.append(
            {
                **instance._asdict(),
                "growth": growth[instance.bias],
                "regret": float(mean),
                "regret_low": float(low),
                "run_low": float(run_low),
                "run_high": float(run_high),
                "above": int((regret > upper.value).sum()),
                "undecided": int(result.undecided.sum()),
                "runs": settings.replicates,
                "upper": upper.value,
                "condition": upper.holds,
                "lower": lower_bound(bandit, instance.horizon).regret,
                "order": lower_order(bandit, instance.horizon),
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}


def lower_order(bandit: AffinityBandit, horizon: int) -> float:
    """f(log(K) / K)^-2 sum_{i : Delta_i > 0} log(n) / Delta_i.

    The order of `thm:lowerBoundRegret` with 1 for the constants that it does not name.
    """
    weight = bandit.bias.weight(math.log(bandit.arms) / bandit.arms)
    gaps = bandit.gaps[bandit.gaps > 0.0]
    return float(math.log(horizon) * np.sum(1.0 / gaps) / weight**2)


def claims(data: Data) -> list[Claim]:
    """Judge both theorems and the corollary.

    A failure costs up to n, and no number of runs short of n excludes one that moves the mean. So
    the upper bound on the mean is asked of every single run, and of how many runs could exceed it.
    """
    regret, low = column(data, "regret"), column(data, "regret_low")
    upper, condition = column(data, "upper"), column(data, "condition").astype(bool)
    undecided = int((column(data, "undecided") > 0).sum())
    above, runs = column(data, "above"), column(data, "runs")
    failures, trials = int(above[condition].sum()), int(runs[condition].sum())
    most = proportion_interval(failures, trials, TWO_SIDED)[2] if trials else 1.0
    outside = f"{int((above == 0)[~condition].sum())} of {int((~condition).sum())}"
    found = [
        Claim(
            "the regret of Algorithm 1 is at most the instance-dependent bound where the horizon "
            "is sufficiently large, in every run",
            UPPER,
            f"no run above the bound in the {int(condition.sum())} instances that meet the horizon "
            f"condition; exact upper bound of the probability of one below {MOST_ABOVE:g}, level "
            f"{LEVEL:.1%}",
            f"{failures} of {trials} runs above, upper bound {most:.2g}; mean regret / bound at "
            f"most {np.max((regret / upper)[condition], initial=0.0):.3g}; none above in {outside} "
            "others",
            failures == 0 and most < MOST_ABOVE,
        )
    ]
    for name, label, sentence in (
        ("lower", LOWER, "with the constants of its proof"),
        ("order", ORDER, "f(log(K)/K)^-2 sum log(n)/Delta_i"),
    ):
        bound = column(data, name)
        needed = always(
            f"the regret is at least the lower bound's leading term, {sentence}",
            label,
            int((low < bound).sum()),
            len(bound),
            "instances",
        )
        found.append(
            needed._replace(
                test=f"lower bound of the mean regret, valid for every law, at least the leading "
                f"term, which is asymptotic in n, level {LEVEL:.1%}, in {needed.test}",
                evidence=f"{needed.evidence}, regret / bound at least "
                f"{np.min(regret / bound):.3g}; {undecided} instances had undecided runs",
            )
        )
    return [*found, _comparison(data)]


def _comparison(data: Data) -> Claim:
    """Judge how the ratio of the two bounds grows with K; nothing here is left to chance."""
    arms, horizon = column(data, "arms"), column(data, "horizon")
    chosen = (column(data, "gaps") == "equal") & (column(data, "imbalance") == 0)
    chosen &= (horizon == horizon.max()) & (arms >= 4)  # log K is above 1
    ratio = column(data, "upper") / column(data, "order")
    factor = np.log(arms) ** (2.0 * column(data, "growth"))
    exponents = {}
    for name in NAMES:
        mine = chosen & (column(data, "bias") == name)
        exponents[name] = float(
            np.polyfit(np.log(arms[mine]), np.log((ratio / factor)[mine]), 1)[0]
        )
    return Claim(
        "the upper bound matches the lower one up to a factor O(log(K)^(2 L'))",
        COMPARISON,
        f"fitted exponent of K in upper bound / (order of the lower bound * log(K)^(2 L')), K from "
        f"4 on, at most {LARGEST_EXPONENT:g} for every bias",
        ", ".join(f"{name} {value:.3f}" for name, value in exponents.items()),
        max(exponents.values()) <= LARGEST_EXPONENT,
    )


def draw(data: Data) -> Any:
    """Draw bounds and measurement against K at one n, and against n at one K."""
    figure, (left, right) = new_panels(1, 2, 7.4, 4.0, sharey=True)
    arms, horizon = column(data, "arms"), column(data, "horizon")
    plain = (column(data, "gaps") == "equal") & (column(data, "imbalance") == 0)
    longest = horizon.max()
    # The number of arms that was run to the most horizons.
    series_arms = max(np.unique(arms), key=lambda count: int((plain & (arms == count)).sum()))
    for axes, x, chosen, title in (
        (left, arms, plain & (horizon == longest), f"n = {power_of_ten(int(longest))}"),
        (right, horizon, plain & (arms == series_arms), f"K = {series_arms}"),
    ):
        for i, name in enumerate(("square", "linear", "unbiased")):
            mine = np.flatnonzero(chosen & (column(data, "bias") == name))
            mine = mine[np.argsort(x[mine])]
            _three_lines(axes, data, x[mine].astype(float), mine, COLOURS[i], NAMES[name])
        axes.set_yscale("log")
        axes.set_title(title, fontsize="medium")
    left.set_xscale("log", base=2)
    left.set_xticks(np.unique(arms), [str(count) for count in np.unique(arms)])
    left.minorticks_off()
    left.set_xlabel("number of arms $K$")
    left.set_ylabel("regret")
    right.set_xscale("log")
    right.set_xlabel("horizon $n$")
    left.legend(frameon=False, loc="upper left")
    handles = right.get_lines()[:3]
    kinds = ("upper bound", "Algorithm 1, measured", "order of the lower bound")
    legend = right.legend(handles, kinds, frameon=False, loc="upper left")
    for handle in legend.get_lines():
        handle.set_color("black")
    return figure


def _three_lines(axes: Any, data: Data, x: Any, mine: Any, colour: str, label: str) -> None:
    axes.plot(x, column(data, "upper")[mine], color=colour, linestyle="--", linewidth=1.2)
    axes.plot(
        x,
        column(data, "regret")[mine],
        color=colour,
        linewidth=1.6,
        marker="o",
        markersize=3.0,
        label=label,
    )
    axes.plot(x, column(data, "order")[mine], color=colour, linestyle=":", linewidth=1.6)
    draw_band(axes, x, column(data, "run_low")[mine], column(data, "run_high")[mine], colour)


ITEM = Item(
    identity="bounds",
    title="The regret of Algorithm 1 lies between the lower and the upper bound",
    labels=(UPPER, LOWER, ORDER, COMPARISON),
    notes=(
        "Gaussian arms (sigma = 1), Algorithm 1 as published, on 320 instances: K from 2 to 64, "
        "f = 1, sigmoid, x and x^2, the best mean .9 and the others all .3 or spread from .8 to "
        ".1, T0_i = 1 but for one worse arm with 0, 40 or 400 more, n = 10^10 and 10^15; and "
        "n from 10^6 to 10^14 for K = 8. Only instances that meet the horizon condition are held "
        "to the upper bound. The lower bound is asymptotic, and its proof's constants leave "
        "nothing of the bias for so few arms (beta' / K > 1), so that the order with 1 for the "
        "constants that the theorem does not name is looked at as well, and drawn. A failure of "
        "probability 1/n, which the upper bound allows for, is not seen in so few runs, and would "
        "move the mean; so the upper bound is asked of every run, and the lower ones of the mean. "
        "The paper runs nothing here, so as-published is quick. Bands hold the middle 90% of runs."
    ),
    settings={
        "quick": Settings(20),
        "full": Settings(300),
        "as-published": Settings(20),
    },
    run=run,
    claims=claims,
    draw=draw,
)
