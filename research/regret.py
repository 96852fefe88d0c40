"""The regret of each policy on the public suite: `python -m research.regret --json`.

The baseline is Algorithm 1 as published. `head_start` knows what holds on the whole suite
(`suite.INITIAL_LEAD` and the kind of noise); `head_start_default` knows only the kind of noise;
`head_start_known` also knows each instance's initial pulls. UCB1, EXP3-IX and Thompson sampling
choose pull by pull and run only up to 10**6 pulls.

A failure is a dropped best group. For a policy without eliminations, it is another group with more
pulls than the best groups together.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from affinity_bandits import simulate, theory
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.model.noise import Bernoulli, Gaussian
from affinity_bandits.policies import Elimination, HeadStartElimination, RoundPolicy
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import Lines, geometric_mean, main_of_lines
from research.suite import INITIAL_LEAD, Instance, instances

REPLICATES = 4_000
"""With no failure among so many, the upper 95% limit (Clopper and Pearson) is 0.00092."""
STEP_REPLICATES = 40
MOST_STEPS = 10**6
SEED = 1


class Line(NamedTuple):
    """One policy on one instance."""

    instance: str
    policy: str
    noise: str
    replicates: int
    regret: float
    failures: int
    failure_upper: float
    undecided: int
    to_lai_robbins: float
    to_lower_bound: float


class Item(NamedTuple):
    """One policy to be run on one instance."""

    instance: Instance
    label: str
    policy: AnyPolicy


def policies(instance: Instance) -> dict[str, AnyPolicy]:
    """Return the policies that run on an instance."""
    bandit, horizon = instance.bandit, instance.horizon
    bounded = isinstance(bandit.noise, Bernoulli)
    chosen: dict[str, AnyPolicy] = {
        "published": Elimination(),
        "head_start": HeadStartElimination(initial_lead=INITIAL_LEAD, bounded=bounded),
        "head_start_known": HeadStartElimination(
            initial_pulls=bandit.initial_pulls, bounded=bounded
        ),
        "head_start_default": HeadStartElimination(bounded=bounded),
    }
    if horizon <= MOST_STEPS:
        thompson = "thompson-beta" if bounded else "thompson-gaussian"
        for label, name in (("ucb1", "ucb1"), ("exp3_ix", "exp3-ix"), ("thompson", thompson)):
            chosen[label] = policy_from_json(name, bandit)
    return chosen


def work() -> list[Item]:
    """Return what is measured, instance by instance."""
    return [
        Item(instance, label, policy)
        for instance in instances()
        for label, policy in policies(instance).items()
    ]


def measure(item: Item, replicates: int) -> Line:
    """Run one policy on one instance."""
    instance, label, policy = item
    bandit, horizon = instance.bandit, instance.horizon
    rounds = isinstance(policy, RoundPolicy)
    runs = replicates if rounds else min(replicates, STEP_REPLICATES)
    result = simulate(bandit, policy, horizon, runs, SEED, checkpoints=1, progress=False)
    failed = int(result.wrong_arm[0].sum())
    regret = float(result.regret[0, :, -1].mean())
    # Both bounds are for feedback N(mu W, 1); for Bernoulli values they are only a scale.
    unit = replace(bandit, noise=Gaussian(1.0), mechanism="shifted")
    return Line(
        instance=instance.name,
        policy=label,
        noise=str(bandit.noise),
        replicates=runs,
        regret=regret,
        failures=failed,
        failure_upper=proportion_interval(failed, runs, 0.95)[2],
        undecided=int(result.undecided[0].sum()),
        to_lai_robbins=regret / theory.lai_robbins(unit, horizon).regret,
        to_lower_bound=regret / theory.lower_bound(unit, horizon).regret,
    )


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return the figures of each policy over the suite."""
    published = {line.instance: line.regret for line in lines if line.policy == "published"}
    found: dict[str, float] = {}
    for policy in dict.fromkeys(line.policy for line in lines):
        own = [line for line in lines if line.policy == policy]
        ratios = {line: line.regret / published[line.instance] for line in own}
        key = f"regret.{policy}"
        found[f"{key}.geomean_ratio_to_published"] = geometric_mean(ratios.values())
        found[f"{key}.worst_ratio_to_published"] = max(ratios.values())
        found[f"{key}.worst_failure"] = max(line.failure_upper for line in own)
        found[f"{key}.failures"] = sum(line.failures for line in own)
        found[f"{key}.geomean_ratio_to_lai_robbins"] = geometric_mean(
            line.to_lai_robbins for line in own
        )
        found[f"{key}.geomean_ratio_to_lower_bound"] = geometric_mean(
            line.to_lower_bound for line in own
        )
        found[f"{key}.instances"] = len(own)
        for noise in ("Gaussian", "Bernoulli"):
            some = [ratio for line, ratio in ratios.items() if line.noise.startswith(noise)]
            found[f"{key}.{noise.lower()}.geomean_ratio_to_published"] = geometric_mean(some)
    return found


def table(lines: Sequence[Line]) -> str:
    """Return a line per instance: published regret, and every other policy's as a part of it."""
    columns = list(dict.fromkeys(line.policy for line in lines))
    rows: dict[str, dict[str, Line]] = {}
    for line in lines:
        rows.setdefault(line.instance, {})[line.policy] = line
    width = max(map(len, rows))
    text = [f"{'instance':<{width}}  " + "  ".join(f"{name:>16}" for name in columns)]
    for name, cells in rows.items():
        parts = []
        for column in columns:
            if column not in cells:
                parts.append(f"{'-':>16}")
            elif column == "published":
                parts.append(f"{cells[column].regret:>16.4g}")
            else:
                parts.append(f"{cells[column].regret / cells['published'].regret:>16.4g}")
        text.append(f"{name:<{width}}  " + "  ".join(parts))
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main_of_lines(Lines(__doc__ or "", Line, work(), measure, figures, table, REPLICATES)))
