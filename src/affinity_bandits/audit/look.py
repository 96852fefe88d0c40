"""The one door to an audit: open a log, see what is unclear, answer it, and read the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from affinity_bandits.audit.columns import ROLES, choose_columns
from affinity_bandits.audit.conclude import MATTERS
from affinity_bandits.audit.forms import to_long
from affinity_bandits.audit.read import Reading, read_scores
from affinity_bandits.audit.scale import choose_best, direct_scale, guess_scale, score_range
from affinity_bandits.audit.tables import Table, read_table
from affinity_bandits.base.errors import InvalidInput, one_of
from affinity_bandits.base.scales import parse_ends, parse_favor

USUAL_SCALE = "1..5"
"""The scale that is offered where the file has no scores."""


@dataclass(frozen=True)
class Answers:
    """What a user says about a log; None where the user says nothing.

    Attributes:
        columns: the column of some roles, see `columns.ROLES`; an empty name leaves the role out.
        scale: the scores that could be given, such as 1..5 or yes/no; 5..1 if 1 is the best.
        best: the best score, "highest" or "lowest".
        matters: the smallest favor that matters, in points.
        date_format: 2026-12-31 as the log would write it, such as "31.12.2026".
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    scale: str | None = None
    best: str | None = None
    matters: str | None = None
    date_format: str | None = None


@dataclass(frozen=True)
class Look:
    """A log that was opened, with the answers so far.

    Attributes:
        file: the table as it is in the file.
        table: the same with one row per score.
        answers: what the user said.
        columns: the column of each role that is known.
        unclear: roles that need an answer, with the columns to choose from.
    """

    file: Table
    table: Table
    answers: Answers
    columns: Mapping[str, str]
    unclear: Mapping[str, list[str]]

    @cached_property
    def seen(self) -> tuple[float, float] | None:
        """The lowest and the highest score of the file; None if there are none."""
        return score_range(self.table, self.columns["score"]) if "score" in self.columns else None

    @property
    def usual_scale(self) -> str:
        """The usual scale that holds these scores, as a user would write it."""
        return USUAL_SCALE if self.seen is None else guess_scale(self.seen)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the scale as the user wrote them; None if the user did not.

        Raises:
            InvalidInput: the scale is not understood.
        """
        return None if self.answers.scale is None else parse_ends("scale", self.answers.scale)

    @property
    def scale(self) -> tuple[float, float] | None:
        """The worst and the best score; None if only the user can say which is the best.

        Raises:
            InvalidInput: the scale or the best score is not understood, or they contradict.
        """
        name = self.columns.get("score", "")
        return direct_scale(self.ends or (0.0, 1.0), self.answers.best or "", name)

    @property
    def matters(self) -> float | None:
        """The smallest favor that matters, in points; None if the user did not say.

        Raises:
            InvalidInput: it is not understood, or is larger than the scale.
        """
        if self.answers.matters is None or self.ends is None:
            return None
        return parse_favor("matters", self.answers.matters, self.ends)

    @property
    def usual_favor(self) -> str:
        """What matters if the user does not say, in points; empty without a scale."""
        return "" if self.ends is None else f"{MATTERS * abs(self.ends[1] - self.ends[0]):g}"

    def answer(self, name: str, said: str) -> Look:
        """Return the log with one more answer: for a role, "scale", "best" or "matters".

        Raises:
            InvalidInput: the answer is not understood.
        """
        if name in ROLES:
            column = _one_of(self.unclear.get(name, self.table.names), said)
            unclear = {role: fitting for role, fitting in self.unclear.items() if role != name}
            return replace(self, columns={**self.columns, name: column}, unclear=unclear)
        if name == "scale":
            parse_ends(name, said)
            return replace(self, answers=replace(self.answers, scale=said))
        if name == "best":
            choose_best(self.ends or (0.0, 1.0), said)
            return replace(self, answers=replace(self.answers, best=said))
        parse_favor(name, said, self.ends or (0.0, 1.0))
        return replace(self, answers=replace(self.answers, matters=said))

    def read(self, people: Table | None = None) -> Reading:
        """Return the scores.

        Args:
            people: a table of judges and their groups.

        Raises:
            BadLog: the log has problems, which it lists all at once.
            InvalidInput: an answer is missing or not understood.
        """
        if self.unclear:
            rule = f"given for {', '.join(self.unclear)}, from {', '.join(self.table.names)}"
            raise InvalidInput("columns", rule, dict(self.answers.columns))
        scale = self.scale
        if self.ends is None or scale is None:
            name = "scale" if self.ends is None else "best"
            usual = self.usual_scale if self.ends is None else "lowest"
            raise InvalidInput(name, f"given, for example {usual!r}", None)
        return read_scores(
            self.table,
            self.columns,
            scale=scale,
            people=people,
            date_format=self.answers.date_format,
        )


def open_log(
    source: Table | Path | str,
    answers: Answers | None = None,
    *,
    sheet: str | None = None,
    drop_missing: bool = False,
) -> Look:
    """Open a log of scores.

    Args:
        source: a .csv, .xlsx or .parquet file, or a table that was read from one.
        answers: what is known of it; the rest is guessed, or unclear.
        sheet: of a workbook; guessed if left out.
        drop_missing: leave out columns that the log does not have, as after the choice of another
            sheet.

    Raises:
        InvalidInput: it is no table, or a column that the user named is not there.

    >>> look = open_log("docs/data/interviews.xlsx", Answers(scale="1..5"))
    >>> look.unclear, look.seen, len(look.read().log.score)
    ({}, (1.0, 5.0), 1240)
    """
    answers = answers or Answers()
    if not isinstance(source, Table):
        source = read_table(source, sheet, list(answers.columns.values()))
    table = to_long(source)
    given = dict(answers.columns)
    if drop_missing:
        given = {role: name for role, name in given.items() if not name or name in table.names}
    columns, unclear = choose_columns(table.names, dict(table.roles) | given)
    return Look(source, table, answers, columns, unclear)


def _one_of(names: list[str], said: str) -> str:
    for name in names:
        if name.casefold() == said.casefold():
            return name
    raise InvalidInput("column", one_of(names, said, columns=True), said)
