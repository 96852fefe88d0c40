"""The log of an audit: one row per score, with who was judged and who judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray

Numbers: TypeAlias = npt.NDArray[np.int32]
Flags: TypeAlias = npt.NDArray[np.bool_]

UNKNOWN = -1
"""The number of a judge, or of a judge's group, that is not recorded."""
COLUMNS = ("session", "performance", "candidate", "group", "judge", "judge_group", "score", "count")
BLOCK = 6
"""Candidates of one group, each with one judge, who count as one performance."""


@dataclass(frozen=True, eq=False)
class ScoreLog:
    """One row per score, sorted by session, performance and judge. Made by `score_log`.

    A performance is one candidate in one session. If a judge scored a performance several times,
    the log keeps the mean.

    Attributes:
        session: number of the day, round or competition, ascending.
        performance: number of the performance, in the order of sessions.
        candidate: number of the candidate.
        group: number of the candidate's group.
        judge: number of the judge, or `UNKNOWN`.
        judge_group: number of the judge's group, or `UNKNOWN`.
        score: from 0, the worst possible score, to 1, the best.
        count: how many scores the row averages.
        groups: names of the groups, by number.
        judges: names of the judges, by number.
        sessions: names of the sessions, by number.
        scale: worst and best possible score, in points; (5, 1) where 1 is the best mark.
        hired: performances whose candidate was chosen; None if unrecorded.
    """

    session: Numbers
    performance: Numbers
    candidate: Numbers
    group: Numbers
    judge: Numbers
    judge_group: Numbers
    score: FloatArray
    count: Numbers
    groups: tuple[str, ...]
    judges: tuple[str, ...]
    sessions: tuple[str, ...]
    scale: tuple[float, float]
    hired: Flags | None = None

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return (
            f"ScoreLog({len(self):,} scores of {self.performances:,} performances by "
            f"{len(self.judges):,} judges; groups {', '.join(self.groups)})"
        )

    @property
    def performances(self) -> int:
        """The number of performances."""
        return int(self.performance[-1]) + 1 if len(self) else 0

    @property
    def candidates(self) -> int:
        """The number of candidates."""
        return int(np.count_nonzero(np.bincount(self.candidate)))

    @property
    def width(self) -> float:
        """The width of the scale, in points."""
        return abs(self.scale[1] - self.scale[0])

    @property
    def own(self) -> Flags:
        """Whether each row's judge belongs to the candidate's group."""
        own: Flags = self.group == self.judge_group
        return own

    @property
    def first_rows(self) -> npt.NDArray[np.int64]:
        """The first row of each performance, and the number of rows at the end."""
        return np.searchsorted(self.performance, np.arange(self.performances + 1, dtype=np.int32))

    @property
    def single(self) -> bool:
        """Whether most candidates were seen by one judge only."""
        return len(self) < 1.5 * self.performances

    @property
    def identified(self) -> bool:
        """Whether every row names its judge."""
        return bool((self.judge != UNKNOWN).all())

    def take(self, rows: npt.NDArray[Any]) -> ScoreLog:
        """Return some rows; performances keep their numbers."""
        return replace(self, **{name: getattr(self, name)[rows] for name in COLUMNS})

    def keep(self, rows: Flags) -> ScoreLog:
        """Return the marked rows, with performances renumbered."""
        if rows.all():
            return self
        kept = self.take(rows)
        return replace(kept, performance=_count_changes(kept.performance), hired=None)


class Coded(NamedTuple):
    """A column of labels: for each row the number of its label.

    Attributes:
        codes: indexes of names; `UNKNOWN` where the cell is empty.
        names: distinct, in any order.
    """

    codes: npt.NDArray[np.integer[Any]]
    names: Sequence[str]


def score_log(
    candidate: Iterable[Any],
    group: Iterable[Any],
    score: Iterable[float],
    *,
    scale: tuple[float, float],
    judge: Iterable[Any] | None = None,
    judge_group: Iterable[Any] | None = None,
    session: Iterable[Any] | None = None,
    hired: Iterable[bool] | None = None,
) -> ScoreLog:
    """Build a log from columns, whose rows may be in any order.

    Args:
        candidate: who was judged, any label.
        group: the candidate's group.
        score: in points of the scale.
        scale: worst and best possible score; (5, 1) where 1 is the best mark.
        judge: who judged, any label; None if unknown.
        judge_group: the judge's group, with the same labels as `group`; None if unknown.
        session: day, round or competition; one session if left out. Numbers are ordered as numbers,
            all other labels as text, so write dates as 2026-11-18.
        hired: whether the candidate was chosen.

    Raises:
        InvalidInput: if a column has another length, a score is missing or outside the scale, or a
            person has two groups.
    """
    return build_log(
        _encode(candidate),
        _encode(group),
        np.asarray(list(score), dtype=np.float64),
        scale=scale,
        judge=None if judge is None else _encode(judge),
        judge_group=None if judge_group is None else _encode(judge_group),
        session=None if session is None else _encode(session),
        hired=None if hired is None else np.asarray(list(hired), dtype=bool),
    )


def build_log(
    candidate: Coded,
    group: Coded,
    score: FloatArray,
    *,
    scale: tuple[float, float],
    judge: Coded | None = None,
    judge_group: Coded | None = None,
    session: Coded | None = None,
    hired: Flags | None = None,
) -> ScoreLog:
    """Build a log from numbered labels; see `score_log` for the columns and errors."""
    worst, best = checks.number("scale", scale[0]), checks.number("scale", scale[1])
    if worst == best:
        rule = "the worst and the best score, such as (1, 5), or (5, 1) where 1 is the best"
        raise InvalidInput("scale", rule, scale)
    low, high = min(worst, best), max(worst, best)
    rows = len(score)
    if rows == 0:
        raise InvalidInput("score", "must have at least one row", [])
    outside = ~((score >= low) & (score <= high))
    if outside.any():
        first = int(np.argmax(outside))
        rule = f"must lie between {low:g} and {high:g} (row {first + 1})"
        raise InvalidInput("score", rule, float(score[first]))
    _check_columns(rows, {"candidate": candidate, "group": group, "session": session})
    _check_columns(rows, {"judge": judge, "judge_group": judge_group})
    if hired is not None:
        _check_length("hired", rows, hired)
    unknown = Coded(np.full(rows, UNKNOWN, dtype=np.int32), ())
    judge, judge_group = judge or unknown, judge_group or unknown
    group_names = sorted({*group.names, *judge_group.names})
    # Columns are dropped as soon as they are renumbered: a long log is in memory only once.
    people, names = _sort_names(candidate)
    del candidate
    group_of = _find_groups("group", people, _use_names(group, group_names), names, group_names)
    del group, names
    judges, judge_names = _sort_names(judge)
    judge_groups = _use_names(judge_group, group_names)
    del judge, judge_group, unknown
    if judge_names:
        known = _find_groups("judge_group", judges, judge_groups, judge_names, group_names)
        judge_groups = np.where(judges == UNKNOWN, judge_groups, known[judges])
    sessions, session_names = (
        (np.zeros(rows, dtype=np.int32), ["all"]) if session is None else _sort_names(session)
    )
    del session
    # Scores are the last key, so that not even rounding depends on the order of the rows.
    order = np.lexsort((score, judge_groups, judges, people, sessions))
    people, sessions, judges = people[order], sessions[order], judges[order]
    judge_groups, score = judge_groups[order], score[order]
    score -= worst
    score /= best - worst
    performance = _count_changes(sessions, people)
    if hired is not None:
        starts = np.flatnonzero(np.diff(performance, prepend=-1))
        hired = np.logical_or.reduceat(hired[order], starts)
    del order
    log = ScoreLog(
        sessions,
        performance,
        people,
        group_of[people],
        judges,
        judge_groups,
        score,
        np.ones(rows, dtype=np.int32),
        tuple(group_names),
        tuple(judge_names),
        tuple(session_names),
        (worst, best),
        hired,
    )
    repeated = (np.diff(performance) == 0) & (np.diff(judges) == 0) & (judges[1:] != UNKNOWN)
    if not repeated.any():
        return log
    return _average_rows(log, np.arange(rows), np.append(True, ~repeated))


def average_groups(log: ScoreLog) -> ScoreLog:
    """Merge the scores of each group's judges on a performance; the group becomes the judge."""
    order = np.lexsort((log.judge_group, log.performance)).astype(np.int32)
    changed = np.diff(log.performance[order]) != 0
    changed |= np.diff(log.judge_group[order]) != 0
    merged = _average_rows(log, order, np.append(True, changed))
    return replace(merged, judge=merged.judge_group)


def pool_singles(log: ScoreLog) -> ScoreLog:
    """Merge candidates who each had one judge into performances with several judges.

    Six candidates of one group who came one after the other count as one performance. This is fair
    only if lots decided who judged whom: then quality and drift are the same on average, whether
    the judge is of the own group or another.
    """
    order = np.argsort(log.group, kind="stable")
    starts = np.searchsorted(log.group[order], np.arange(len(log.groups)))
    place = np.empty(len(log), dtype=np.int64)
    place[order] = np.arange(len(log)) - starts[log.group[order]]
    block = log.group * (len(log) // BLOCK + 1) + place // BLOCK
    _, last, number = np.unique(block[::-1], return_index=True, return_inverse=True)
    last, number = len(log) - 1 - last, number[::-1]
    pooled = replace(log, session=log.session[last[number]], performance=last[number], hired=None)
    pooled = pooled.take(np.lexsort((pooled.judge_group, pooled.judge, pooled.performance)))
    pooled = replace(pooled, performance=_count_changes(pooled.performance))
    if not log.identified:
        return pooled
    changed = (np.diff(pooled.performance) != 0) | (np.diff(pooled.judge) != 0)
    return _average_rows(pooled, np.arange(len(pooled)), np.append(True, changed))


def _average_rows(log: ScoreLog, order: npt.NDArray[Any], begins: Flags) -> ScoreLog:
    """Merge each row that continues its predecessor, in the given order, into the row before."""
    starts = np.flatnonzero(begins)
    count = np.add.reduceat(log.count[order], starts, dtype=np.int32)
    mean = np.add.reduceat((log.score * log.count)[order], starts)
    mean /= count
    rows = order[starts]
    del starts
    others = {name: getattr(log, name)[rows] for name in COLUMNS if name not in ("score", "count")}
    return replace(log, **others, score=mean, count=count)


def _count_changes(*columns: Numbers) -> Numbers:
    """Number the runs of equal rows from 0."""
    changed = np.zeros(len(columns[0]), dtype=bool)
    for column in columns:
        changed[1:] |= np.diff(column) != 0
    return np.cumsum(changed, dtype=np.int32)


def _encode(labels: Iterable[Any]) -> Coded:
    numbers: dict[str, int] = {}
    codes = [
        UNKNOWN if label is None else numbers.setdefault(str(label), len(numbers))
        for label in labels
    ]
    return Coded(np.array(codes, dtype=np.int32), tuple(numbers))


def _sort_names(column: Coded) -> tuple[Numbers, Sequence[str]]:
    """Renumber labels in the order of names: of numbers if all are numbers, else of text."""
    names = column.names
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int32)
    try:
        values = np.fromiter((float(name) for name in names), np.float64, len(names))
        order = order[np.argsort(values[order], kind="stable")]
    except ValueError:
        pass
    rank = np.full(len(names) + 1, UNKNOWN, dtype=np.int32)
    rank[order] = np.arange(len(names))
    return rank[column.codes], [names[number] for number in order]


def _use_names(column: Coded, names: list[str]) -> Numbers:
    """Renumber labels by the given names."""
    places = [names.index(name) for name in column.names]
    numbers: Numbers = np.array([*places, UNKNOWN], dtype=np.int32)[column.codes]
    return numbers


def _check_columns(rows: int, given: dict[str, Coded | None]) -> None:
    """Raise an error for a column of another length, or with forbidden empty cells."""
    for name, column in given.items():
        if column is None:
            continue
        _check_length(name, rows, column.codes)
        if not name.startswith("judge") and column.codes.min() == UNKNOWN:
            first = int(np.argmin(column.codes))
            raise InvalidInput(name, f"must not be empty (row {first + 1})", None)


def _check_length(name: str, rows: int, column: npt.NDArray[Any]) -> None:
    if len(column) != rows:
        raise InvalidInput(name, f"must have one value per score, {rows} in all", len(column))


def _find_groups(
    name: str, persons: Numbers, groups: Numbers, names: Sequence[str], group_names: list[str]
) -> Numbers:
    """Return each person's group, or raise an error if one person has two."""
    known = (groups != UNKNOWN) & (persons != UNKNOWN)
    group_of = np.full(len(names), UNKNOWN, dtype=np.int32)
    group_of[persons[known]] = groups[known]
    wrong = known & (group_of[persons] != groups)
    if wrong.any():
        row = int(np.argmax(wrong))
        person = persons[row]
        listed = ", ".join(group_names[g] for g in sorted({groups[row], group_of[person]}))
        rule = f"must be the same in every row of one person; {names[person]} has {listed}"
        raise InvalidInput(name, rule, listed)
    return group_of
