"""Does the interval of a mean regret cover the mean? `python -m research.intervals --json`.

Twenty laws of a run's regret, as a part of the most that is possible. Thirteen are measured: a pool
of 20,000 runs of a policy on an instance. Groups are drawn from a pool with replacement, so that
the pool is the law, its mean is the truth without any error, and a group's runs are independent;
groups without overlap would need 40 times as many runs and leave the truth unknown. Seven are
two-point laws, which are drawn from as they are. Student's interval is the control: it must fail.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from affinity_bandits import AffinityBandit, simulate
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bias import Bias, Constant, Power
from affinity_bandits.paper.item import student_interval
from affinity_bandits.simulation.intervals import mean_interval
from checks.bench.measure import make_parser, report

POOL = 20_000
GROUPS = 2_000
REPLICATES = (20, 50, 400)
LEVEL = 0.95
LEAST = 0.94
"""2,000 groups that are covered with a probability of 95% are so in 94% or more with one of 98%."""
SEED = 1
LINEAR = Power(1.0)


class Law(NamedTuple):
    """A law of regret over the most that is possible: its values are equally likely."""

    name: str
    bimodal: bool
    values: Callable[[int], FloatArray]
    """From the size of a pool to the pool."""


def measured(
    name: str,
    bimodal: bool,
    policy: str,
    horizon: int,
    initial: Sequence[int],
    bias: Bias = LINEAR,
    means: Sequence[float] = (0.4, 0.6),
) -> Law:
    """Return the law of a policy's regret on an instance."""

    def values(size: int) -> FloatArray:
        bandit = AffinityBandit(means, bias, initial)
        result = simulate(bandit, policy, horizon, size, SEED, checkpoints=1, progress=False)
        pool: FloatArray = result.regret[0, :, -1] / result.most_regret[-1]
        return pool

    return Law(name, bimodal, values)


def two_points(low: float, high: float, part: float) -> Law:
    """Return the law that is `high` with a probability and `low` otherwise."""

    def values(size: int) -> FloatArray:
        # A pool in which exactly that part is high is that law.
        return np.where(np.arange(size) < round(part * size), high, low)

    return Law(f"{low:g}, but {high:g} in {100 * part:g}% of runs", True, values)


LAWS = (
    measured("UCB1, the README's instance", True, "ucb1", 20_000, (100, 10)),
    measured("UCB1, equal initial pulls", True, "ucb1", 5_000, (10, 10)),
    measured("UCB1, initial pulls 30, 10", True, "ucb1", 5_000, (30, 10)),
    measured("UCB1, x^2", True, "ucb1", 5_000, (12, 10), Power(2.0)),
    measured("EXP3, initial pulls 40, 10", True, "exp3", 4_000, (40, 10)),
    measured("EXP3-IX, initial pulls 90, 10", True, "exp3-ix", 4_000, (90, 10)),
    measured("Thompson sampling", True, "thompson-beta", 2_000, (20, 10)),
    measured("UCB1, three arms", False, "ucb1", 4_000, (40, 10, 10), LINEAR, (0.3, 0.5, 0.6)),
    measured("elimination, often deceived", True, "elimination", 10**6, (30_000, 10)),
    measured("head-start elimination", False, "head-start-elimination", 10**6, (100, 10)),
    measured("UCB1 without bias", False, "ucb1", 4_000, (10, 10), Constant()),
    measured("UCB-V without bias", False, "ucb-v", 2_000, (10, 10), Constant()),
    measured("epsilon-greedy without bias", False, "epsilon-greedy", 2_000, (1, 1), Constant()),
    two_points(0.1, 1.0, 0.005),
    two_points(0.1, 1.0, 0.01),
    two_points(0.1, 1.0, 0.02),
    two_points(0.1, 1.0, 0.05),
    two_points(0.1, 1.0, 0.2),
    two_points(0.0, 1.0, 0.5),
    two_points(0.001, 1.0, 0.96),
)


class Line(NamedTuple):
    """How the intervals did on one law at one number of replicates."""

    law: str
    bimodal: bool
    replicates: int
    coverage: float
    width: float  # mean, as a part of the range
    lowest: float
    highest: float
    student_coverage: float
    student_width: float
    student_outside: float  # how often it leaves the range


def measure(law: Law, pool: FloatArray, replicates: int, groups: int) -> Line:
    """Draw samples and count how many intervals cover the mean of the pool."""
    random = np.random.default_rng([SEED, replicates, LAWS.index(law)])
    samples = pool[random.integers(0, len(pool), (replicates, groups))]
    truth = pool.mean()
    _, low, high = mean_interval(samples, 0.0, 1.0, LEVEL)
    _, student_low, student_high = np.array(
        [student_interval(column, LEVEL) for column in samples.T]
    ).T
    # Half a rounding is no miss where all runs agree.
    slack = 1e-12
    return Line(
        law.name,
        law.bimodal,
        replicates,
        float(((low <= truth + slack) & (truth - slack <= high)).mean()),
        float((high - low).mean()),
        float(low.min()),
        float(high.max()),
        float(((student_low <= truth + slack) & (truth - slack <= student_high)).mean()),
        float((student_high - student_low).mean()),
        float(((student_low < 0.0) | (student_high > 1.0)).mean()),
    )


def run(
    laws: Sequence[Law] = LAWS,
    sizes: Sequence[int] = REPLICATES,
    groups: int = GROUPS,
    pool: int = POOL,
) -> list[Line]:
    """Measure every law at every number of replicates."""

    def lines_of(law: Law) -> list[Line]:
        values = law.values(pool)
        return [measure(law, values, size, groups) for size in sizes]

    lines: list[Line] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        for done, some in enumerate(workers.map(lines_of, laws), 1):
            lines += some
            print(f"\r{done} of {len(laws)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return lines


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return the figures of all lines together."""
    found: dict[str, float] = {
        "intervals.instances": len({line.law for line in lines}),
        "intervals.bimodal_instances": len({line.law for line in lines if line.bimodal}),
        "intervals.least_allowed": LEAST,
        "intervals.outside": sum(line.lowest < 0.0 or line.highest > 1.0 for line in lines),
    }
    for size in sorted({line.replicates for line in lines}):
        own = [line for line in lines if line.replicates == size]
        key = f"intervals.{size}"
        found[f"{key}.least_coverage"] = min(line.coverage for line in own)
        found[f"{key}.mean_width"] = float(np.mean([line.width for line in own]))
        found[f"{key}.student_least_coverage"] = min(line.student_coverage for line in own)
        found[f"{key}.student_below"] = sum(line.student_coverage < LEAST for line in own)
        found[f"{key}.student_most_outside"] = max(line.student_outside for line in own)
    return found


def table(lines: Sequence[Line]) -> str:
    """Return a line for each law and number of replicates."""
    width = max(len(line.law) for line in lines)
    text = [
        f"{'law of regret':<{width}}  runs  covers   width  Student covers   width  leaves range"
    ]
    text += [
        f"{line.law:<{width}}  {line.replicates:>4}  {line.coverage:>6.1%}  {line.width:>6.4f}  "
        f"{line.student_coverage:>14.1%}  {line.student_width:>6.4f}  {line.student_outside:>12.1%}"
        for line in lines
    ]
    return "\n".join(text)


def main() -> int:
    """Print the table, or the figures as JSON; the status is 1 if an interval does not cover."""
    parser = make_parser(__doc__)
    parser.add_argument("--groups", type=int, default=GROUPS)
    arguments = parser.parse_args()
    lines = run(groups=arguments.groups)
    if not arguments.json:
        print(table(lines))
    report(figures(lines), arguments)
    kept = all(
        line.coverage >= LEAST and 0.0 <= line.lowest <= line.highest <= 1.0 for line in lines
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
