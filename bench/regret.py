"""The regret of each policy on the public suite: `python -m bench.regret --json`.

Algorithm 1 as published is the measure of all others. Elimination with a handicap is told what
holds on the whole suite (`suite.HEAD_START` and the kind of noise), never anything of an instance;
`handicap_default` is told the kind of noise only, like the published one; `handicap_known` is told
the initial pulls of each instance as well, and `former` is the handicap as it was at first. UCB1,
EXP3-IX and Thompson sampling go pull by pull and are run where that is affordable: up to 10**6
pulls.

A failure is a dropped best group; for a policy that drops nobody, another group with more pulls
than the best ones together.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from affinity_bandits import simulate, theory
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.noise import Bernoulli, Gaussian
from affinity_bandits.policies import Elimination, HandicapElimination, RoundPolicy
from affinity_bandits.simulation.intervals import proportion_interval
from bench.former_handicap import FormerHandicap
from bench.measure import print_figures
from bench.suite import HEAD_START, Instance, instances

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


def policies(instance: Instance) -> dict[str, AnyPolicy]:
    """Return the policies that run on an instance."""
    bandit, horizon = instance.bandit, instance.horizon
    bounded = isinstance(bandit.noise, Bernoulli)
    chosen: dict[str, AnyPolicy] = {
        "published": Elimination(),
        "handicap": HandicapElimination(head_start=HEAD_START, bounded=bounded),
        "handicap_known": HandicapElimination(initial_pulls=bandit.initial_pulls, bounded=bounded),
        "handicap_default": HandicapElimination(bounded=bounded),
        "former": FormerHandicap(head_start=HEAD_START, bounded=bounded),
    }
    if horizon <= MOST_STEPS:
        thompson = "thompson-beta" if bounded else "thompson-gaussian"
        for label, name in (("ucb1", "ucb1"), ("exp3_ix", "exp3-ix"), ("thompson", thompson)):
            chosen[label] = policy_from_json(name, bandit)
    return chosen


def measure(instance: Instance, label: str, policy: AnyPolicy, replicates: int) -> Line:
    """Run one policy on one instance."""
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


def run(replicates: int = REPLICATES) -> tuple[dict[str, float], list[Line]]:
    """Return the figures and every line they come from."""
    work = [
        (instance, label, policy)
        for instance in instances()
        for label, policy in policies(instance).items()
    ]
    lines = []

    def line_of(item: tuple[Instance, str, AnyPolicy]) -> Line:
        return measure(item[0], item[1], item[2], replicates)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for line in pool.map(line_of, work):
            lines.append(line)
            print(f"\r{len(lines)} of {len(work)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return figures(lines), lines


def figures(lines: list[Line]) -> dict[str, float]:
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
    former = {line.instance: line.regret for line in lines if line.policy == "former"}
    found["regret.handicap.worst_ratio_to_former"] = max(
        line.regret / former[line.instance] for line in lines if line.policy == "handicap"
    )
    return found


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def table(lines: list[Line]) -> str:
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--details", type=Path, help="write every line to this JSON file")
    arguments = parser.parse_args()
    found, lines = run(arguments.replicates)
    if arguments.details is not None:
        details: list[dict[str, Any]] = [line._asdict() for line in lines]
        arguments.details.write_text(json.dumps(details, indent=1) + "\n", encoding="utf-8")
    if not arguments.json:
        print(table(lines))
    print_figures(found, as_json=arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
