"""Measure false alarms, coverage and power of the audit: `python -m research.audit --json`.

Logs are drawn anew from 86 worlds without favor (`research.audit_worlds`), six of which were made
to break the audit, and from worlds with a favor of 0.2 and 0.4 points. Seeds were fixed before the
first run. Beside the audit stand a naive test (do own judges give higher scores than others, t test
at 5%) and a regression with effects of candidate and judge (jackknife over judges, t test at 5%).

    audit.worlds             worlds that the null hypothesis covers
    audit.worst_false_alarm  largest fraction of logs called "shown" in one of them
    audit.broken             worlds whose fraction is above 5%, with 95% confidence
    audit.worst_coverage     smallest fraction of intervals that contain 0 in one of them
    audit.worst_named        smallest fraction of logs with "cannot tell" or the named warning, in
                             worlds that the null hypothesis does not cover
    audit.outside_alarm      largest fraction of "shown" in such a world
    audit.naive_worst        largest fraction of alarms of the naive test
    audit.regression_worst   the same for the regression
    audit.world.*            fractions of one world without favor: logs called "shown", intervals
                             that miss 0, alarms of the naive test and of the regression
    audit.power.*            fraction of logs with a favor that are called "shown"
    audit.regression.*       the same for the regression
    audit.predicted.*        mean power that the audits report for that favor
    audit.worst_power_ratio  smallest ratio of the two
    audit.size.*             with --rows: CPU seconds and peak memory of one long log
"""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.conclude import audit_scores
from affinity_bandits.audit.judges import permute_judges
from affinity_bandits.audit.log import ScoreLog
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import make_parser, report
from research.audit_worlds import WORLDS, World, draw_log

LOGS = 1_000
DRAWS = 20
"""Simulated logs for the power that an audit reports."""
FAVORS = (0.2, 0.4)
POWER_PART = 0.4
BATCH = 20


class Count(NamedTuple):
    """In how many logs of a world something was found.

    Attributes:
        world: the world.
        logs: number of logs.
        shown: logs called "shown".
        indicated: logs called "indicated".
        named: logs with "cannot tell" or a named warning.
        intervals: logs with an interval.
        missed: intervals without the true favor.
        naive: alarms of the naive test.
        regression: alarms of the regression.
        predicted: mean power that the audits reported for the true favor.
        seconds: of CPU time.
    """

    world: World
    logs: int
    shown: int
    indicated: int
    named: int
    intervals: int
    missed: int
    naive: int
    regression: int
    predicted: float
    seconds: float


def power_worlds() -> list[World]:
    """Return worlds with a favor."""
    return [
        World(
            100 + number,
            f"{groups} groups, {rows:,} rows, {favor:g} points",
            rows=rows,
            groups=groups,
            judges=judges,
            favor=favor,
            part=POWER_PART if rows < 5_000 else POWER_PART / 2.0,
        )
        for number, (groups, judges, rows, favor) in enumerate(
            (groups, judges, rows, favor)
            for groups, judges in ((2, 30), (3, 60))
            for rows in (1_500, 5_000)
            for favor in FAVORS
        )
    ]


def audit_logs(world: World, first: int, logs: int) -> Count:
    """Draw logs of a world, from number `first` on, and audit them."""
    start = time.process_time()
    found = []
    for number in range(first, first + logs):
        log = draw_log(world, number)
        found.append(audit_one(world, log))
    sums = [sum(values) for values in zip(*found, strict=True)]
    shown, indicated, named, intervals, missed, naive, regression = (int(v) for v in sums[:7])
    seconds = time.process_time() - start
    return Count(
        world, logs, shown, indicated, named, intervals, missed, naive, regression,
        sums[7] / logs, seconds,
    )  # fmt: skip


def audit_one(world: World, log: ScoreLog) -> tuple[float, ...]:
    """Return what was found in one log, in the order of `Count`."""
    shown = False
    for look in range(1, world.looks + 1):
        part = log.keep(log.session < len(log.sessions) * look // world.looks)
        audit = audit_scores(part, by_lot=world.by_lot, draws=DRAWS)
        shown = shown or audit.word == "shown"
    codes = {*audit.missing, *(caution.code for caution in audit.warnings)}
    named = audit.word == "cannot tell" or bool(codes & set(world.codes))
    favor = audit.favor
    missed = favor is not None and not favor.low <= world.favor <= favor.high
    predicted = dict(audit.power).get(world.favor, 0.0)
    return (
        shown, audit.word == "indicated", named, favor is not None, missed, naive_alarm(log),
        regression_alarm(log), predicted,
    )  # fmt: skip


def naive_alarm(log: ScoreLog) -> bool:
    """Return whether own judges' scores are above others', by a t test that knows nothing else."""
    own, other = log.score[log.own], log.score[~log.own]
    error = math.sqrt(own.var() / max(len(own), 1) + other.var() / max(len(other), 1))
    return bool(own.mean() - other.mean() > 1.645 * error)


def regression_alarm(log: ScoreLog) -> bool:
    """Return whether a regression with effects of candidate and judge shows a favor."""
    from scipy.special import stdtrit

    test = permute_judges(log, permutations=0)
    return bool(test.favor > stdtrit(max(test.judges - 1, 1), 0.95) * test.error)


def measure(worlds: Sequence[World], logs: int, processes: int) -> list[Count]:
    """Audit logs of all worlds, in batches on several processes; print progress."""
    sizes = [max(BATCH, round(logs * world.part)) for world in worlds]
    tasks = [
        (place, first, min(BATCH, size - first))
        for place, size in enumerate(sizes)
        for first in range(0, size, BATCH)
    ]
    counts: list[list[Count]] = [[] for _ in worlds]
    with ProcessPoolExecutor(processes) as pool:
        places, firsts, numbers = zip(*tasks, strict=True)
        found = pool.map(audit_logs, [worlds[place] for place in places], firsts, numbers)
        for place, count in zip(places, found, strict=True):
            counts[place].append(count)
            done = sum(one.logs for one in counts[place])
            if done == sizes[place]:
                print(row(merge(counts[place])), file=sys.stderr, flush=True)
    return [merge(parts) for parts in counts]


def merge(parts: Sequence[Count]) -> Count:
    """Add up the counts of one world."""
    logs = sum(part.logs for part in parts)
    return Count(
        world=parts[0].world,
        logs=logs,
        shown=sum(part.shown for part in parts),
        indicated=sum(part.indicated for part in parts),
        named=sum(part.named for part in parts),
        intervals=sum(part.intervals for part in parts),
        missed=sum(part.missed for part in parts),
        naive=sum(part.naive for part in parts),
        regression=sum(part.regression for part in parts),
        predicted=sum(part.predicted * part.logs for part in parts) / logs,
        seconds=sum(part.seconds for part in parts),
    )


def row(count: Count) -> str:
    """Return a line of the table for people."""
    world = count.world
    part, low, high = proportion_interval(count.shown, count.logs)
    covered = 1.0 - count.missed / count.intervals if count.intervals else math.nan
    cells = [
        f"{world.number} {world.name}" + (" (outside)" if world.outside else ""),
        f"{count.logs}",
        f"{part:.3f} ({low:.3f} to {high:.3f})",
        f"{count.indicated / count.logs:.2f}",
        f"{count.named / count.logs:.2f}" if world.outside else "",
        f"{covered:.3f}",
        f"{count.naive / count.logs:.2f}",
        f"{count.regression / count.logs:.2f}",
        f"{count.predicted:.2f}" if world.favor else "",
        f"{count.seconds / count.logs:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = """\
| world | logs | shown (95% interval) | indicated | named | coverage | naive | regression | predicted | s per log |
|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501


def summarize(counts: Sequence[Count]) -> dict[str, float]:
    """Return the figures."""
    inside = [one for one in counts if not one.world.outside and not one.world.favor]
    outside = [one for one in counts if one.world.outside]
    favored = [one for one in counts if one.world.favor]
    quiet = inside + outside
    found: dict[str, float] = {"audit.worlds": len(inside)}
    if inside:
        found |= {
            "audit.worst_false_alarm": max(one.shown / one.logs for one in inside),
            "audit.broken": sum(
                proportion_interval(one.shown, one.logs)[1] > 0.05 for one in inside
            ),
            "audit.worst_coverage": min(
                1.0 - one.missed / one.intervals for one in inside if one.intervals
            ),
            "audit.naive_worst": max(one.naive / one.logs for one in quiet),
            "audit.regression_worst": max(one.regression / one.logs for one in quiet),
        }
    if outside:
        found["audit.worst_named"] = min(one.named / one.logs for one in outside)
        found["audit.outside_alarm"] = max(one.shown / one.logs for one in outside)
    for one in quiet:
        name = f"audit.world.{one.world.name}"
        found[f"{name}.shown"] = one.shown / one.logs
        found[f"{name}.missed"] = one.missed / max(one.intervals, 1)
        found[f"{name}.naive"] = one.naive / one.logs
        found[f"{name}.regression"] = one.regression / one.logs
    for one in favored:
        name = f"{one.world.groups}_groups.{one.world.rows}_rows.{one.world.favor:g}_points"
        found[f"audit.power.{name}"] = one.shown / one.logs
        found[f"audit.regression.{name}"] = one.regression / one.logs
        found[f"audit.predicted.{name}"] = one.predicted
    if favored:
        ratios = [one.shown / one.regression for one in favored if one.regression]
        found["audit.worst_power_ratio"] = min(ratios)
    found["audit.seconds"] = sum(one.seconds for one in counts)
    return found


def measure_size(rows: int) -> dict[str, float]:
    """Audit one long log: 3 judges per candidate, 300 judges, days of 30 candidates."""
    audit_scores(draw_log(World(1, "warm"), 0))
    log = draw_long_log(rows)
    start = time.process_time()
    audit_scores(log)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {f"audit.size.{rows:.0e}.seconds": seconds, f"audit.size.{rows:.0e}.gib": peak}


def draw_long_log(rows: int, judges: int = 300, day: int = 30) -> ScoreLog:
    """Draw a log of many rows with little memory."""
    from affinity_bandits.audit.log import Coded, build_log

    generator = np.random.default_rng(1)
    size = rows // 3
    person = np.arange(size, dtype=np.int32)
    first = generator.integers(0, judges, size, dtype=np.int32)
    step = generator.integers(1, judges // 3, size, dtype=np.int32)  # three different judges
    judge = np.repeat(first, 3) + np.tile(np.arange(3, dtype=np.int32), size) * np.repeat(step, 3)
    judge %= judges
    group = generator.integers(0, 3, size, dtype=np.int32)
    score = np.round(3.0 + generator.normal(0.0, 1.0, 3 * size)).clip(1.0, 5.0)
    return build_log(
        Coded(np.repeat(person, 3), [str(number) for number in range(size)]),
        Coded(np.repeat(group, 3), ["A", "B", "C"]),
        score,
        scale=(1.0, 5.0),
        judge=Coded(judge, [str(number) for number in range(judges)]),
        judge_group=Coded(judge % 3, ["A", "B", "C"]),
        session=Coded(np.repeat(person // day, 3), [str(n) for n in range(size // day + 1)]),
    )


def main() -> int:
    """Measure, and print a table and the figures."""
    parser = make_parser(__doc__ or "")
    parser.add_argument("--logs", type=int, default=LOGS, help="per world; fewer of slow worlds")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--worlds", help="numbers, as in 1,5,17; 100 and more have a favor")
    parser.add_argument("--rows", type=float, help="audit one long log instead")
    arguments = parser.parse_args()
    if arguments.rows:
        report(measure_size(int(arguments.rows)), arguments)
        return 0
    worlds = [*WORLDS, *power_worlds()]
    if arguments.worlds:
        asked = {int(number) for number in arguments.worlds.split(",")}
        worlds = [world for world in worlds if world.number in asked]
    counts = measure(worlds, arguments.logs, arguments.processes)
    if not arguments.json:
        print("\n".join([HEAD, *(row(count) for count in counts)]))
    report(summarize(counts), arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
