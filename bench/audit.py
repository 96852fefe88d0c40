"""Does an audit show a bias where there is one, and nowhere else? `python -m bench.audit --json`.

Logs are drawn anew. Without a bias, every rule of choice meets 2, 5 and 16 groups, and stars meet
coins; lengths and drifts are dealt out in turn, and in one of three cells the log ends when it
looks best. A verdict counts as a false alarm only where its assumption holds. The naive regression
(score on share and group, one-sided at 5%, robust standard errors) is beside it.

    audit.alarm_cells        cells and verdicts without a bias, assumption kept, and cells in which
                             a set is looked at, and a false alarm is that it misses the truth
    audit.broken             of these, where the upper 95% limit of false alarms is above 5%
    audit.worst_alarm        the largest part of logs with a false alarm
    audit.worst_false_alarm  the largest upper 95% limit of it
    audit.naive_worst        the same of the naive regression
    audit.power.*            the part of logs with a bias in which it is shown
    audit.weak               powers below what is asked of them
    audit.planted_caught     of the cells in which a verdict is asked for although its assumption
                             does not hold, the part in which that is seen
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.audit import (
    DecisionLog,
    indicated,
    mean_ratios,
    strength,
    summary_of_log,
    verdicts,
)
from affinity_bandits.audit.conclude import conclude
from affinity_bandits.bias import InGroupBonus, Power
from affinity_bandits.simulation.intervals import proportion_interval
from bench.audit_logs import HANDICAP, RULES, World, drawn
from bench.audit_screen import SCREENED, may_be_shown
from bench.lines import Lines, main

RUNS = 2_000
FEWER, FEWEST = 0.1, 0.02
"""Parts of the runs where something is there to be found, and where it takes a second."""
GROUPS = (2, 5, 16)
ROWS = (200, 2_000, 20_000)
SHAPES = ("none", "rise", "none", "step", "none", "wave")
ONE_SIDED = 1.6448536269514722
HOLDS = {"none": ("nothing", "alike"), "steady": ("steady", "alike")}
"""Verdicts whose assumption holds under a drift; under any other one it is `ALIKE`."""
ALIKE = ("alike",)
PLANTED = "planted: "
MISSED = ("bonus missed", "ratio missed")
ENOUGH = math.log(20.0)
TWO = (0.4, 0.6)
AHEAD, EVEN = (100, 10), (20, 20)
OF_PANELS = ("random", "slow")


class Cell(NamedTuple):
    """What logs are drawn from, and what is looked at."""

    name: str
    world: World
    verdicts: tuple[str, ...]
    asked: tuple[float, ...]  # powers; none if there is nothing to be shown
    looks: bool = False  # ends when it looks best
    part: float = FEWER  # of the runs


class Line(NamedTuple):
    """In how many logs of a cell each verdict was shown."""

    name: str
    runs: int
    shown: dict[str, int]
    naive: int
    asked: dict[str, float]


def cells() -> list[Cell]:
    """Return the cells: those without a bias first."""
    return [*without_bias(), *with_bias(), *other_verdicts(), *sets(), *planted()]


def other_verdicts() -> list[Cell]:
    """Return what is asked of "indicated" and of "cannot tell"."""
    coins = World("round-robin", TWO, (100, 10), 20_000, stars=1, bias=Power(1.0))
    rest = World("round-robin", TWO, (20, 20), 2_000, bias=InGroupBonus(0.5))
    return [
        Cell("coins, round-robin, long", coins, ("indicated",), (0.85,)),
        Cell("stars, equal committees in turn", rest, ("cannot tell",), (0.99,)),
        Cell("coins, equal committees in turn", rest._replace(stars=1), ("cannot tell",), (0.99,)),
    ]


def sets() -> list[Cell]:
    """Return cells in which sets of the bonus and of ratios of true means are looked at."""
    found = []
    for rule, initial in (("round-robin", AHEAD), ("ucb1", EVEN), ("switch after success", AHEAD)):
        for stars in (1, 4):
            for bonus, looks in ((0.1, False), (0.5, True)):
                world = World(rule, TWO, initial, 2_000, stars, bias=InGroupBonus(bonus))
                name = f"{rule}, {stars} stars, bonus {bonus:g}"
                found.append(Cell(name, world, MISSED, (), looks))
    return found


def planted() -> list[Cell]:
    """Return drifts without a bias, and verdicts that do not allow for them."""
    rise = World("round-robin", TWO, (20, 200), 2_000, drift="rise")
    alone = rise._replace(rule="softmax", alone=True, means=(0.6, 0.6))
    return [
        Cell(f"{PLANTED}all drift", rise, ("nothing",), ()),
        Cell(f"{PLANTED}one drifts", alone, ("nothing", "alike"), ()),
    ]


def with_bias() -> list[Cell]:
    """Return what is asked of the power."""
    share, half, fifth = Power(1.0), InGroupBonus(0.5), InGroupBonus(0.2)
    both, one = ("nothing", "alike"), ("nothing",)

    def world(rule: str, initial: tuple[int, ...], **rest: Any) -> World:
        return World(rule, TWO, initial, 2_000, bias=rest.pop("bias", share), **rest)

    def panels(stars: int, bias: InGroupBonus) -> World:
        return world("softmax", EVEN, stars=stars, bias=bias, seats=5)

    return [
        Cell("stars, round-robin", world("round-robin", AHEAD), both, (0.95, 0.95)),
        Cell("stars, handicap", world(HANDICAP, AHEAD), both, (0.95, 0.95)),
        Cell("stars, ucb1", world("ucb1", EVEN), one, (0.95,)),
        Cell("coins, handicap", world(HANDICAP, AHEAD, stars=1), both, (0.95, 0.0)),
        Cell("coins, ucb1", world("ucb1", EVEN, stars=1), one, (0.0,)),
        Cell("stars, panels, half", panels(4, half), OF_PANELS, (0.98, 0.0), part=1.0),
        Cell("stars, panels, fifth", panels(4, fifth), OF_PANELS, (0.7, 0.0), part=1.0),
        Cell("coins, panels, half", panels(1, half), OF_PANELS, (0.7, 0.0), part=1.0),
        Cell("stars, ucb1, steady", world("ucb1", EVEN), ("steady",), (0.0,), part=FEWEST),
        Cell("stars, handicap, steady", world(HANDICAP, AHEAD), ("steady",), (0.0,), part=FEWEST),
    ]


def without_bias() -> list[Cell]:
    """Return cells in which there is nothing to be shown."""
    found: list[Cell] = []
    for number, rule in enumerate(RULES):
        for place, groups in enumerate(GROUPS):
            for stars in (1, 4):
                turn = len(found)
                more = stars > 1
                drift = SHAPES[(number + 2 * place + 3 * more + number // 3) % len(SHAPES)]
                rows = ROWS[(number + place + more) % 3]
                means = tuple(0.35 + 0.3 * ((7 * i) % groups) / groups for i in range(groups))
                uneven = (place + number) % 2 == 0
                initial = tuple(100 if uneven and i == 0 else 10 for i in range(groups))
                world = World(rule, means, initial, rows, stars, drift=drift)
                name = f"{rule}, {groups} groups, {rows} rows, {stars} stars, {drift}"
                looks = turn % 3 == 2
                held = HOLDS.get(drift, ALIKE)
                found.append(Cell(name, world, held, (), looks, 1.0))
    for rule in ("ucb1", "compensating", "switch after success"):
        steady = World(rule, TWO, (100, 10), 2_000, drift="steady")
        found.append(Cell(f"{rule}, steady", steady, HOLDS["steady"], (), part=1.0))
    for rule in ("softmax", "switch after success"):
        for stars in (1, 4):
            for alone in (False, True):
                world = World(rule, TWO, (20, 20), 2_000, stars, drift="rise", alone=alone, seats=5)
                # The level rises by 0.18 or 0.12, which `panels_on_record` allows for.
                name = f"{rule}, panels, {stars} stars, {'one' if alone else 'all'} drift"
                found.append(Cell(name, world, OF_PANELS, (), part=1.0))
    return found


def measure(cell: Cell, runs: int) -> Line:
    """Draw logs of one cell and audit them."""
    number = max(1, round(runs * cell.part))
    shown = dict.fromkeys(cell.verdicts, 0)
    naive = 0
    for run in range(number):
        log = drawn(cell.world, run)
        ends = [len(log) // 8, len(log) // 4, len(log) // 2] if cell.looks else []
        seen: set[str] = set()
        found = False
        for end in (*ends, len(log)):
            part = log.first(end)
            seen |= said_of(part, cell)
            found = found or regression(part) > ONE_SIDED
        for name in cell.verdicts:
            shown[name] += name in seen
        naive += found
    asked = dict(zip(cell.verdicts, cell.asked, strict=True)) if cell.asked else {}
    return Line(cell.name, number, shown, naive, asked)


def said_of(log: DecisionLog, cell: Cell) -> set[str]:
    """Return what of that which a cell looks at is said of a log."""
    summary = summary_of_log(log)
    if cell.verdicts == ("indicated",):
        return {"indicated"} if indicated(summary.table) >= ENOUGH else set()
    if cell.verdicts == ("cannot tell",):
        return {conclude(summary).word}
    if cell.verdicts == MISSED:
        bias = cell.world.bias
        assert isinstance(bias, InGroupBonus)
        bonus, ratios = strength(summary.table), mean_ratios(summary.table)
        held = bonus is not None and bonus.least <= bias.bonus <= bonus.largest
        true = cell.world.means
        kept = ratios is not None and all(
            one.low <= true[one.group] / true[one.than] <= one.high for one in ratios
        )
        return {name for name, fine in zip(MISSED, (held, kept), strict=True) if not fine}
    if cell.verdicts == OF_PANELS:
        assert summary.at_random is not None
        assert summary.on_record is not None
        evidence = (summary.at_random.peak, summary.on_record)
        return {name for name, log_e in zip(OF_PANELS, evidence, strict=True) if log_e >= ENOUGH}
    screened = not cell.asked and set(cell.verdicts) <= SCREENED
    # The narrowest is enough: a wider one is never shown without it.
    if screened and not may_be_shown(summary, cell.verdicts[0]):
        return set()
    made = verdicts(summary, steady="steady" in cell.verdicts)
    return {verdict.assumption for verdict in made if verdict.shown}


def regression(log: DecisionLog) -> float:
    """Return the t value of the share in a regression of the score on share and group."""
    share, score = log.judging.copy(), log.score.copy()
    for group in range(len(log.groups)):
        own = log.group == group
        if own.any():
            share[own] -= share[own].mean()
            score[own] -= score[own].mean()
    square = float(share @ share)
    if square < 1e-12:
        return 0.0
    slope = float(share @ score) / square
    error = math.sqrt(float(np.sum((share * (score - slope * share)) ** 2))) / square
    return slope / error if error > 0.0 else 0.0


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return what the cells say."""
    quiet = [line for line in lines if not line.asked and not line.name.startswith(PLANTED)]
    alarms = [(number, line.runs) for line in quiet for number in line.shown.values()]
    upper = [proportion_interval(number, runs, 0.95)[2] for number, runs in alarms]
    wrong = [
        proportion_interval(max(line.shown.values()), line.runs, 0.95)[1] > 0.05
        for line in lines
        if line.name.startswith(PLANTED)
    ]
    powers = {
        f"audit.power.{f'{line.name}.{name}'.replace(', ', '.').replace(' ', '_')}": (
            line.shown[name] / line.runs,
            asked,
        )
        for line in lines
        for name, asked in line.asked.items()
    }
    return {
        "audit.alarm_cells": len(alarms),
        "audit.broken": sum(limit > 0.05 for limit in upper),
        "audit.worst_alarm": max(number / runs for number, runs in alarms),
        "audit.worst_false_alarm": max(upper),
        "audit.naive_worst": max(line.naive / line.runs for line in quiet),
        **{name: power for name, (power, _) in powers.items()},
        "audit.weak": sum(power < asked for power, asked in powers.values()),
        "audit.planted_caught": sum(wrong) / len(wrong),
    }


def table(lines: Sequence[Line]) -> str:
    """Return a row for each cell: how often each verdict was shown, with its 95% interval."""
    text = ["| cell | logs | shown, with 95% interval | naive |", "|---|---|---|---|"]
    for line in lines:
        parts = [
            f"{name}: {part:.4f} ({low:.4f} to {high:.4f})"
            for name, number in line.shown.items()
            for part, low, high in [proportion_interval(number, line.runs, 0.95)]
        ]
        naive = f"{line.naive / line.runs:.3f}"
        text.append(f"| {line.name} | {line.runs:,} | {'; '.join(parts)} | {naive} |")
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main(Lines(__doc__ or "", Line, cells(), measure, figures, table, RUNS)))
