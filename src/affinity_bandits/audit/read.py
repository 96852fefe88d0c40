"""From a table to a log of scores: understand each cell, and list all problems at once."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from affinity_bandits.audit.columns import NEEDED, guess_role
from affinity_bandits.audit.log import UNKNOWN, Coded, Flags, ScoreLog, build_log
from affinity_bandits.audit.remarks import LISTED, PROBLEM, Remark
from affinity_bandits.audit.score_cells import (
    CHOSEN,
    NOT_CHOSEN,
    read_cells,
)
from affinity_bandits.audit.tables import Table, label
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray

DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y",
    "%d-%b-%y", "%Y%m%d")  # fmt: skip
DATE_EXAMPLES = {date(2026, 12, 31).strftime(one): one for one in DATE_FORMATS}
"""The format of each way to write the last day of 2026."""
TIME = re.compile(r"[T ]\d{1,2}:\d\d.*$")
FORMULAS = "if it has formulas, open the workbook, save it again and try once more"
MANY_GROUPS, FEW_ROWS = 20, 5
"""With more groups, and fewer rows per group, the column is probably not one of groups."""


class BadLog(InvalidInput):
    """A log with problems that only its author can solve.

    Attributes:
        remarks: what was found in the log, the problems among it.
        problems: one sentence each.
    """

    def __init__(self, source: str, remarks: Sequence[Remark]) -> None:
        super().__init__("log", "a table without problems", source)
        self.remarks = tuple(remarks)
        self.problems = tuple(one.sentence for one in remarks if one.done == PROBLEM)
        count = "a problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        listed = (f"- {one}" for one in self.problems)
        self.args = ("\n".join([f"{source} has {count}:", *listed]),)


@dataclass(frozen=True)
class Reading:
    """A log as it was read.

    Attributes:
        log: the scores.
        remarks: what was found in the table, and what was done about it.
        columns: the column that was taken for each role.
        source: the name of the file or table.
    """

    log: ScoreLog
    remarks: tuple[Remark, ...]
    columns: Mapping[str, str]
    source: str

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks, one sentence each."""
        return tuple(one.sentence for one in self.remarks)


class _Reader:
    """A table, the remarks on it and the rows with a problem."""

    def __init__(self, table: Table, columns: Mapping[str, str]) -> None:
        self.table = table
        self.columns = dict(columns)
        self.remarks = list(table.remarks)
        self.refused = np.zeros(len(table), dtype=bool)

    def remark(
        self, what: str, where: Flags, done: str = PROBLEM, *, unit: str = "row", examples: Any = ()
    ) -> None:
        """Add a remark on some rows, if there are any."""
        count = int(where.sum())
        if count:
            first = np.flatnonzero(where)[:LISTED].tolist()
            rows = tuple(self.table.row_number(row) for row in first)
            self.remarks.append(Remark(what, done, count, unit, rows, tuple(examples[:LISTED])))

    def labels(self, role: str, *, fold: bool) -> Coded | None:
        """Return a column of labels; with `fold`, labels that differ in case only are the same."""
        if role not in self.columns:
            return None
        codes, names = self.table.labels(self.columns[role])
        if not names:
            what = f"column {self.columns.pop(role)} is empty"
            if role in NEEDED:
                self.remarks.append(Remark(f"{what}; {FORMULAS}"))
            else:
                self.remarks.append(Remark(what, "not used"))
            return None
        return self.fold(Coded(codes, names)) if fold else Coded(codes, names)

    def fold(self, column: Coded) -> Coded:
        """Merge labels that differ in case only; the most frequent spelling stays."""
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
        best: dict[str, int] = {}
        for number in np.argsort(-counts, kind="stable"):
            best.setdefault(column.names[number].casefold(), int(number))
        target = [best[name.casefold()] for name in column.names]
        if len(best) == len(column.names):
            return column
        merged = [
            f"{name} as {column.names[to]}"
            for name, to in zip(column.names, target, strict=True)
            if column.names[to] != name
        ]
        codes = np.array([*target, UNKNOWN], dtype=np.int32)[column.codes]
        what = "upper and lower case"
        self.remark(what, codes != column.codes, "respelled", unit="name", examples=merged)
        return _take(Coded(codes, column.names), np.ones(len(codes), dtype=bool))

    def scores(self, scale: tuple[float, float]) -> FloatArray:
        """Return the scores, NaN if missing; note all unreadable ones."""
        name = self.columns["score"]
        codes, cells = self.table.values(name)
        numbers, found = read_cells(name, cells, scale)
        for what, done, places, unit in found:
            where = np.isin(codes, places)
            examples = [repr(label(cells[place])) for place in places[:LISTED]]
            self.remark(what, where, done, unit=unit, examples=examples)
            if done == PROBLEM:
                self.refused |= where
        if all(math.isnan(number) for number in numbers) and not self.refused.any():
            self.remarks.append(Remark(f"column {name} has no scores; {FORMULAS}"))
        return np.array([*numbers, float("nan")])[codes]

    def sessions(self, date_format: str | None) -> Coded | None:
        """Return the session of each row: its date, its session's label, or both."""
        parts = [
            part
            for part in (
                self._dates(date_format) if "date" in self.columns else None,
                self.labels("session", fold=False),
            )
            if part is not None
        ]
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0]
        first, second = parts
        both = first.codes.astype(np.int64) * (len(second.names) + 1) + second.codes + 1
        pairs, codes = np.unique(both, return_inverse=True)
        names = []
        for pair in pairs.tolist():
            day, other = divmod(pair, len(second.names) + 1)
            names.append(f"{first.names[day]} {second.names[other - 1] if other else ''}".strip())
        codes = np.where(first.codes == UNKNOWN, UNKNOWN, codes)
        return Coded(codes.astype(np.int32), names)

    def _dates(self, date_format: str | None) -> Coded | None:
        """Return dates as 2026-11-18; a column of other labels stays as it is."""
        codes, values = self.table.values(self.columns["date"])
        texts = [label(value) for value in values if isinstance(value, str)]
        if not texts:
            return self.labels("date", fold=False)
        known = DATE_EXAMPLES.get(date_format or "", date_format)
        formats = [known] if known else list(DATE_FORMATS)
        hits = {one: sum(_parse_date(text, one) is not None for text in texts) for one in formats}
        best = max(formats, key=lambda one: hits[one])
        if not known and hits[best] < 0.5 * len(texts):
            return self.labels("date", fold=False)  # numbers, weeks or names of days
        alike = [one for one in formats if hits[one] == hits[best] and one != best]
        other = f" (if that is wrong, give the date format {_write(alike[0])})" if alike else ""
        if best != "%Y-%m-%d":
            typed = [isinstance(value, str) and bool(_parse_date(value, best)) for value in values]
            days = ((text, _parse_date(text, best)) for text in texts)
            self.remark(
                f"typed like {_write(best)}{other}",
                np.array([*typed, False])[codes],
                "converted",
                unit="date",
                examples=[f"{text} is {day}" for text, day in days if day][:1],
            )
        wrong: list[int] = []
        names: dict[str, int] = {}
        place = [UNKNOWN] * (len(values) + 1)
        for number, value in enumerate(values):
            if value is None:
                continue
            parsed = _parse_date(label(value), best) if isinstance(value, str) else label(value)
            if parsed is None:
                wrong.append(number)
            else:
                place[number] = names.setdefault(str(parsed), len(names))
        what = f"{self.columns['date']} is not a date like {_write(best)}"
        examples = [repr(label(values[number])) for number in wrong[:LISTED]]
        self.remark(what, np.isin(codes, wrong), examples=examples)
        self.refused |= np.isin(codes, wrong)
        return Coded(np.array(place, dtype=np.int32)[codes], list(names))

    def hired(self, keep: Flags) -> Flags | None:
        """Return who was chosen; None if that is unrecorded or unreadable.

        Args:
            keep: rows that are not skipped, whose empty answers are noted.
        """
        if "hired" not in self.columns:
            return None
        codes, values = self.table.values(self.columns["hired"])
        texts = ["no" if value is None else label(value).casefold() for value in values]
        unknown = sorted({text for text in texts if text not in CHOSEN | NOT_CHOSEN})
        if unknown:
            what = f"column {self.columns.pop('hired')} has other answers than yes and no"
            self.remarks.append(Remark(what, "not used", examples=tuple(unknown[:LISTED])))
            return None
        empty = [place for place, value in enumerate(values) if value is None]
        missing = keep & np.isin(codes, [UNKNOWN, *empty])
        self.remark(f"no {self.columns['hired']}", missing, "counted as not chosen")
        return np.array([*(text in CHOSEN for text in texts), False])[codes]

    def check_one_group(self, person: str, people: Coded, groups: Coded, keep: Flags) -> None:
        """Note every person who has two groups."""
        known = keep & (people.codes >= 0) & (groups.codes >= 0)
        group_of = np.full(len(people.names) + 1, UNKNOWN, dtype=np.int32)
        group_of[people.codes[known]] = groups.codes[known]
        wrong = known & (group_of[people.codes] != groups.codes)
        twice = np.unique(people.codes[wrong]).tolist()
        examples = []
        for one in twice[:LISTED]:
            found = np.unique(groups.codes[known & (people.codes == one)])
            more = [f"{len(found) - 2:,} more"] if len(found) > 2 else []
            listed = " and ".join([*(groups.names[number] for number in found[:2]), *more])
            examples.append(f"{people.names[one]}: {listed}")
        where = known & np.isin(people.codes, twice)
        self.remark(f"{person} has two groups", where, examples=examples)

    def skip(self, rows: Flags, why: str) -> Flags:
        """Note rows that are left out; return the others."""
        self.remark(why, rows, "skipped")
        return ~rows


def read_scores(
    table: Table,
    columns: Mapping[str, str],
    *,
    scale: tuple[float, float],
    people: Table | None = None,
    date_format: str | None = None,
) -> Reading:
    """Read a log from a table.

    Args:
        table: one row per score.
        columns: the column of each role, see `columns.ROLES`.
        scale: worst and best possible score; (5, 1) where 1 is the best mark.
        people: a table of judges and their groups.
        date_format: 2026-12-31 as the table would write it, such as "31.12.2026", or a format of
            `datetime.strptime`; guessed if left out.

    Raises:
        BadLog: with all problems at once.
    """
    reader = _Reader(table, columns)
    if table.rows is not None and not len(table.rows):
        raise BadLog(table.source, reader.remarks)
    score = reader.scores(scale)
    candidate, group = reader.labels("candidate", fold=False), reader.labels("group", fold=True)
    judge = reader.labels("judge", fold=True)
    judge_group = reader.labels("judge_group", fold=True)
    if people is not None and judge is not None:
        judge_group = _look_up(reader, judge, people)
    elif people is not None:
        reader.remarks.append(Remark(f"{people.source} is of use only with a column of judges"))
    session = reader.sessions(date_format)
    if group is None:
        raise BadLog(table.source, reader.remarks)
    keep = np.ones(len(score), dtype=bool)
    for why, rows in table.left_out:
        keep &= reader.skip(keep & rows, why)
    keep &= reader.skip(keep & np.isnan(score) & ~reader.refused, "no score")
    for role, column in (("candidate", candidate), ("group", group), ("judge", judge)):
        if column is not None:
            why = f"no {reader.columns[role]}"
            keep &= reader.skip(keep & (column.codes == UNKNOWN), why)
    if session is not None:
        undated = keep & (session.codes == UNKNOWN) & ~reader.refused
        keep &= reader.skip(undated, "no date or session")
    hired = reader.hired(keep)
    if candidate is None:
        candidate = Coded(np.arange(len(score), dtype=np.int32), list(map(str, range(len(score)))))
        what = "no column of candidates"
        reader.remarks.append(Remark(what, "each row counts as another candidate"))
    else:
        reader.check_one_group("candidate", candidate, group, keep)
    if len(group.names) > MANY_GROUPS and len(score) < FEW_ROWS * len(group.names):
        what = f"column {reader.columns['group']} has {len(group.names):,} groups"
        done = "used; if these are not groups, choose another column"
        reader.remarks.append(Remark(what, done, examples=tuple(group.names[:2])))
    if judge_group is not None:
        judge_group = _match_case(judge_group, group)
        if not set(judge_group.names) & set(group.names):
            what = (
                f"judges' groups ({', '.join(judge_group.names[:4])}) and candidates' groups "
                f"({', '.join(group.names[:4])}) have no name in common; use the same names"
            )
            reader.remarks.append(Remark(what))
        if judge is not None:
            reader.check_one_group("judge", judge, judge_group, keep)
    if not keep.any() and all(one.done != PROBLEM for one in reader.remarks):
        reader.remarks.append(Remark("no row has all that is needed"))
    if any(one.done == PROBLEM for one in reader.remarks):
        raise BadLog(table.source, reader.remarks)
    log = build_log(
        _take(candidate, keep),
        _take(group, keep),
        score[keep],
        scale=scale,
        judge=None if judge is None else _take(judge, keep),
        judge_group=None if judge_group is None else _take(judge_group, keep),
        session=None if session is None else _take(session, keep),
        hired=None if hired is None else hired[keep],
    )
    return Reading(log, tuple(reader.remarks), reader.columns, table.source)


def _take(column: Coded, rows: Flags) -> Coded:
    """Return some rows of a column, with only the names that they use."""
    codes = column.codes[rows]
    used = np.bincount(codes[codes >= 0], minlength=len(column.names)) > 0
    place = np.append(np.cumsum(used) - 1, UNKNOWN).astype(np.int32)
    names = [name for name, is_used in zip(column.names, used, strict=True) if is_used]
    return Coded(place[codes], names)


def _match_case(judge_group: Coded, group: Coded) -> Coded:
    """Spell judges' groups as the candidates' groups are spelled."""
    spelled = {name.casefold(): name for name in group.names}
    names = [spelled.get(name.casefold(), name) for name in judge_group.names]
    return Coded(judge_group.codes, names)


def _look_up(reader: _Reader, judge: Coded, people: Table) -> Coded:
    """Return each row's judge's group, from a table of people."""
    roles = {guess_role(name): name for name in reversed(people.names)}
    person = roles.get("judge") or roles.get("candidate") or people.names[0]
    kind = roles.get("judge_group") or roles.get("group") or people.names[-1]
    who, which = people.labels(person), people.labels(kind)
    reader.remarks += [replace(one, what=f"{people.source}: {one.what}") for one in people.remarks]
    twice: dict[str, None] = {}
    group_of: dict[str, int] = {}
    for one, group in zip(who.codes.tolist(), which.codes.tolist(), strict=True):
        if UNKNOWN in (one, group):
            continue
        name = who.names[one]
        if group_of.setdefault(name.casefold(), group) != group:
            twice[name] = None
    if twice:
        what = f"{people.source}: judge has two groups"
        reader.remarks.append(Remark(what, examples=tuple(twice)[:LISTED]))
    unknown = [name for name in judge.names if name.casefold() not in group_of]
    if unknown:
        examples = tuple(unknown[:LISTED])
        what = f"not in {people.source}"
        reader.remarks.append(
            Remark(what, "not compared", len(unknown), "judge", examples=examples)
        )
    place = [group_of.get(name.casefold(), UNKNOWN) for name in judge.names]
    return reader.fold(Coded(np.array([*place, UNKNOWN], dtype=np.int32)[judge.codes], which.names))


def _write(form: str) -> str:
    """Return the last day of 2026 in a format."""
    return date(2026, 12, 31).strftime(form)


def _parse_date(text: str, form: str) -> date | None:
    """Return the day that a text names in a format; a time of day after it is ignored."""
    for part in (text, TIME.sub("", text)):
        try:
            return datetime.strptime(part, form).date()
        except ValueError:
            continue
    return None
