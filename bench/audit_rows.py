"""How many rows does it take to see a bonus? `python -m bench.audit_rows --json`.

Logs of five stars and of yes and no are drawn with bonuses of 10, 20 and 50%: chosen in turn by a
committee of 100 and 10, chosen by UCB1, and judged by panels of five that are drawn at random and
written down. Rows are doubled until a bonus is shown in 80 of 100 logs; between, a straight line.

    audit_rows.*   rows for a probability of 0.8; infinite if the most that were tried are too few
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

from affinity_bandits.audit import summary_of_log, verdicts
from affinity_bandits.bias import InGroupBonus
from bench.audit import AHEAD, ENOUGH, EVEN, TWO
from bench.audit_logs import World, drawn
from bench.lines import Lines, main

RUNS = 40
FEWEST, MOST = 250, 64_000
ASKED = 0.8
BONUSES = (0.1, 0.2, 0.5)
WAYS = {
    "in turn": World("round-robin", TWO, AHEAD, FEWEST),
    "ucb1": World("ucb1", TWO, EVEN, FEWEST),
    "panels": World("softmax", TWO, EVEN, FEWEST, seats=5),
}


class Line(NamedTuple):
    """How many rows one kind of log takes.

    Attributes:
        name: of the kind.
        rows: None if the most that were tried are too few.
        tried: rows, and the part of logs in which the bonus was shown.
    """

    name: str
    rows: float | None
    tried: list[tuple[int, float]]


def work() -> list[tuple[str, World]]:
    """Return kinds of logs, and their names."""
    return [
        (
            f"{'stars' if stars > 1 else 'coins'}.{way.replace(' ', '_')}.{100 * bonus:.0f}",
            world._replace(stars=stars, bias=InGroupBonus(bonus)),
        )
        for stars in (4, 1)
        for way, world in WAYS.items()
        for bonus in BONUSES
    ]


def measure(kind: tuple[str, World], runs: int) -> Line:
    """Double the rows until enough logs show the bonus."""
    name, world = kind
    tried: list[tuple[int, float]] = []
    rows = FEWEST
    while rows <= MOST:
        shown = sum(is_shown(world._replace(rows=rows), run) for run in range(runs)) / runs
        if shown >= ASKED:
            before, part = tried[-1] if tried else (0, 0.0)
            exact = before + (rows - before) * (ASKED - part) / (shown - part)
            return Line(name, exact, [*tried, (rows, shown)])
        tried.append((rows, shown))
        rows *= 2
    return Line(name, None, tried)


def is_shown(world: World, run: int) -> bool:
    """Draw a log and return whether its bonus is shown."""
    summary = summary_of_log(drawn(world, run))
    if world.seats > 0:
        assert summary.at_random is not None
        return summary.at_random.peak >= ENOUGH
    return verdicts(summary, steady=False)[0].shown


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return the rows of each kind."""
    return {
        f"audit_rows.{line.name}": math.inf if line.rows is None else round(line.rows)
        for line in lines
    }


def table(lines: Sequence[Line]) -> str:
    """Return a line for each kind."""
    return "\n".join(
        f"{'more' if line.rows is None else round(line.rows):>8}  {line.name}  "
        + "  ".join(f"{rows:,}: {part:.2f}" for rows, part in line.tried)
        for line in lines
    )


if __name__ == "__main__":
    sys.exit(main(Lines(__doc__ or "", Line, work(), measure, figures, table, RUNS)))
