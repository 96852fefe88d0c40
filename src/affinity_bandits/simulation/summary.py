"""The table of a result: one row per policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affinity_bandits.displays import Interval, amount, html_table, latex, one_line, rate

if TYPE_CHECKING:
    import pandas as pd


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
    """

    label: str
    engine: str
    regret: Interval
    regret_runs: Interval
    wrong_arm: Interval
    undecided: Interval | None
    simple_regret: float
    decided_at: Interval | None

    __repr__ = one_line


class SummaryTable(list[SummaryRow]):
    """The rows of a table, one per policy."""

    HEAD = (
        *("policy", "median run (90% of runs)", "mean regret (95%)", "wrong arm (95%)"),
        *("undecided (95%)", "decided after (90% of runs)", "engine"),
    )

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows as text, in the order of `HEAD`."""
        return [
            (
                row.label,
                amount(row.regret_runs),
                amount(row.regret),
                rate(row.wrong_arm),
                rate(row.undecided),
                "-" if row.decided_at is None else amount(row.decided_at),
                row.engine,
            )
            for row in self
        ]

    def _repr_html_(self) -> str:
        return html_table("", self.HEAD, self.cells())

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with one row per policy, and columns such as `regret_low`."""
        import pandas as pd

        rows: list[dict[str, object]] = []
        for row in self:
            cells: dict[str, object] = {}
            for name, value in vars(row).items():
                if name in ("label", "engine", "simple_regret"):
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
