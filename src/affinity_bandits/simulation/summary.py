"""The table of a result: one row per policy."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affinity_bandits.base.displays import (
    FEWEST_RUNS,
    TOO_FEW,
    Interval,
    amount,
    html_table,
    latex,
    one_line,
    percents,
    rate,
    short,
    span,
)
from affinity_bandits.base.errors import need

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

WIDE = 96  # columns of a terminal from which on a table has all its columns


@dataclass(frozen=True)
class SummaryRow:
    """One policy's row of a table.

    Attributes:
        label: the policy's name in the result.
        engine: "rounds", "steps" or "python".
        regret: mean regret at the horizon, with its confidence interval.
        regret_runs: regret of the median run, and of the two runs between which lie 90% of all.
        wrong_arm: rate of wrong verdicts, with its confidence interval.
        undecided: rate of undecided runs, likewise; None if the policy never decides.
        simple_regret: mean gap of the recommended arm; see `Result.simple_regret`.
        decided_at: pulls until one candidate was left, in the median run that decided and in the
            two between which lie 90% of those; None if all are undecided.
        runs: the number of runs.
        decided: the number of those that decided.
    """

    label: str
    engine: str
    regret: Interval
    regret_runs: Interval
    wrong_arm: Interval
    undecided: Interval | None
    simple_regret: float
    decided_at: Interval | None
    runs: int
    decided: int

    __repr__ = one_line


class SummaryTable(list[SummaryRow]):
    """The rows of a table, one per policy.

    As text, intervals of amounts from fewer than `FEWEST_RUNS` runs are left out.
    """

    HEAD = (
        *("policy", "median run (90% of runs)", "mean regret (95%)", "wrong arm (95%)"),
        *("undecided (95%)", "decided after (90% of runs)", "engine"),
    )

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows as text, in the order of `HEAD`."""
        return [
            (
                row.label,
                amount(row.regret_runs, row.runs),
                amount(row.regret, row.runs),
                rate(row.wrong_arm),
                rate(row.undecided),
                amount(row.decided_at, row.decided),
                row.engine,
            )
            for row in self
        ]

    def to_rich(self, width: int) -> Table:
        """Return the table that `affinity simulate` prints on a terminal of so many columns."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("policy", overflow="fold", min_width=12)
        columns = {
            "median run": "90% of runs",
            "mean regret": "95% interval",
            "wrong arm": "95%",
            "undecided": "95%",
            "decided after": "90% of runs",
        }
        if width < WIDE or not any(row.decided_at for row in self):
            del columns["decided after"]
        for column, below in columns.items():
            table.add_column(f"{column}\n[dim]{below}[/]", justify="right", no_wrap=True)
        for row in self:
            cells = [
                _two_lines(row.regret_runs, row.runs),
                _two_lines(row.regret, row.runs),
                _two_lines(row.wrong_arm),
                _two_lines(row.undecided),
                _two_lines(row.decided_at, row.decided),
            ]
            table.add_row(escape(row.label), *cells[: len(columns)])
        if any(TOO_FEW in cell for row in self.cells() for cell in row):
            table.caption = f"{TOO_FEW} for an interval: it needs at least {FEWEST_RUNS}"
        return table

    def __str__(self) -> str:
        """Return the table that `affinity simulate` prints."""
        from rich.console import Console

        text = io.StringIO()
        Console(file=text, width=WIDE, color_system=None).print(self.to_rich(WIDE))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def _repr_html_(self) -> str:
        return html_table("", self.HEAD, self.cells())

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with one row per policy, and columns such as `regret_low`."""
        need("study", "pandas")
        import pandas as pd

        rows: list[dict[str, object]] = []
        for row in self:
            cells: dict[str, object] = {}
            for name, value in vars(row).items():
                if name in ("label", "engine", "simple_regret", "runs", "decided"):
                    cells[name] = value
                else:
                    ends = (np.nan,) * 3 if value is None else value
                    cells |= {name: ends[0], f"{name}_low": ends[1], f"{name}_high": ends[2]}
            rows.append(cells)
        return pd.DataFrame(rows).set_index("label")

    def to_latex(self) -> str:
        """Return a LaTeX table, to be used with the package booktabs."""
        lines = [" & ".join(map(latex, cells)) + r" \\" for cells in [self.HEAD, *self.cells()]]
        body = [r"\begin{tabular}{l" + "r" * (len(self.HEAD) - 2) + "l}", r"\toprule", lines[0]]
        return "\n".join([*body, r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", ""])


def _two_lines(found: Interval | None, runs: int | None = None) -> str:
    """Return a number, and on a second line its interval: a rate, or an amount from `runs`."""
    if found is None:
        return "-"
    parts = percents(found) if runs is None else (short(found.estimate), span(found, runs))
    return "{}\n[dim]{}[/]".format(*parts)
