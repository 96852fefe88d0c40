"""The steps of an audit on the page: look at a file, then conclude."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from urllib.parse import urlencode

from affinity_bandits.app.forms import tell_mistake
from affinity_bandits.app.see import LARGEST_BONUS
from affinity_bandits.audit.columns import ROLES
from affinity_bandits.audit.conclude import Audit, audit_scores
from affinity_bandits.audit.look import Answers, Look, open_log
from affinity_bandits.audit.read import BadLog, Reading
from affinity_bandits.audit.remarks import PROBLEM, Remark
from affinity_bandits.audit.result import to_json
from affinity_bandits.audit.sentences import FOUND, tell
from affinity_bandits.audit.tables import Table, read_table
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.plots.audit_report.page import (
    ask_plan,
    render_findings,
    render_page,
    render_verdict,
)

PREVIEW_ROWS, PREVIEW_COLUMNS = 5, 12
SAMPLED_COLUMNS = 60
"""Columns that are offered with some of their values."""


@dataclass(frozen=True)
class Upload:
    """A file as a browser sends it."""

    name: str
    content: bytes

    def read(self, sheet: str | None = None) -> Table:
        """Return its table."""
        return read_table(Path(Path(self.name).name or "file"), sheet, content=self.content)


@dataclass(frozen=True)
class AuditForm:
    """The files and the choices of a user so far.

    Attributes:
        log: the scores.
        people: judges and their groups.
        sheet: of the workbook; empty if it is to be guessed.
        columns: the column of some roles; the others are guessed.
        scale: as the user writes it; empty if it is to be guessed.
        best: "highest" or "lowest" score; empty if the user did not say.
        matters: the smallest favor that matters, as the user writes it; may be empty.
        date_format: empty if it is to be guessed.
        by_lot: whether lots decided who judged whom.
    """

    log: Upload
    people: Upload | None = None
    sheet: str = ""
    columns: Mapping[str, str] | None = None
    scale: str = ""
    best: str = ""
    matters: str = ""
    date_format: str = ""
    by_lot: bool = False


@dataclass(frozen=True)
class FileView:
    """A file as the page shows it.

    Attributes:
        source: its name, with that of the sheet.
        sheets: of the workbook, the chosen one first.
        rows: number of rows below the header.
        header: names of the file's columns.
        names: of all columns of the table with one row per score.
        preview: the first rows with their numbers, cut at `PREVIEW_COLUMNS`.
        columns: the column of each role.
        samples: some values of the columns.
        people: the name of the file with the judges' groups, or empty.
        unclear: roles that need an answer.
        scale: given or guessed.
        best: "highest" or "lowest"; empty if only the user can say.
        matters: as the user wrote it.
        usual: what matters if that is empty, in points.
        wrong: what is wrong with answers, by the name of the question.
        seen: lowest and highest score of the file, if it has scores.
        remarks: what was found, the problems first.
        ready: whether an audit can be made.
    """

    source: str
    sheets: tuple[str, ...]
    rows: int
    header: list[str]
    names: list[str]
    preview: list[tuple[int, list[str]]]
    columns: dict[str, str]
    samples: dict[str, str]
    people: str
    unclear: list[str]
    scale: str
    best: str
    matters: str
    usual: str
    wrong: dict[str, str]
    seen: tuple[float, float] | None
    remarks: list[Remark]
    ready: bool


@dataclass(frozen=True)
class Conclusion:
    """An audit as the page shows it.

    Attributes:
        extent: how much was read.
        verdict: the answer and what it rests on, as HTML.
        findings: what it comes from and what follows, as HTML.
        report: the page that `affinity audit --report` writes, in base 64.
        result: the JSON that `affinity audit --json` writes, in base 64.
        plan: the query of a plan that starts from it; None if the groups may not be compared.
        bonus: the favor as a part of the mean score, in percent; None if none was found.
    """

    extent: str
    verdict: str
    findings: str
    report: str
    result: str
    plan: str | None
    bonus: int | None

    @property
    def see(self) -> str | None:
        """The query of a committee with this bonus."""
        return None if self.bonus is None else urlencode({"bonus": self.bonus})


def load_libraries() -> None:
    """Load the libraries that an audit needs."""
    import_module("affinity_bandits.plots.audit")


def look(form: AuditForm) -> FileView:
    """Read a file as far as possible, and list its problems.

    Raises:
        InvalidInput: it is no table, or a column or the scale is not understood.
    """
    opened = _open(form)
    table, scale = opened.file, opened.answers.scale or ""
    remarks, ready = list(table.remarks), False
    ends, _, wrong = _understand(opened)
    if not opened.unclear and ends is not None:
        try:
            remarks, ready = list(_read(opened, form).remarks), not wrong
        except BadLog as error:
            remarks = list(error.remarks)
    return FileView(
        source=table.source,
        sheets=table.sheets,
        rows=len(table),
        header=table.names,
        names=opened.table.names,
        preview=[(row, cells[:PREVIEW_COLUMNS]) for row, cells in table.preview(PREVIEW_ROWS)],
        columns=dict(opened.columns),
        samples={
            name: opened.table.sample(name) for name in opened.table.names[:SAMPLED_COLUMNS] if name
        },
        people="" if form.people is None else form.people.name,
        unclear=list(opened.unclear),
        scale=scale,
        best="" if ends is None else "highest" if ends[0] < ends[1] else "lowest",
        matters=form.matters,
        usual="" if ends is None else opened.usual_favor,
        wrong={name: tell_mistake(error) for name, error in wrong.items()},
        seen=opened.seen,
        remarks=sorted(remarks, key=lambda one: one.done != PROBLEM),
        ready=ready,
    )


def conclude(form: AuditForm, declaration: Declaration) -> Conclusion:
    """Audit a file.

    Raises:
        InvalidInput: something is missing, or the file has problems.
    """
    opened = _open(form)
    if opened.unclear:
        asked = ", ".join(ROLES[role] for role in opened.unclear)
        raise InvalidInput("columns", f"chosen for {asked}", None)
    _, matters, wrong = _understand(opened)
    for error in wrong.values():
        raise error
    reading = _read(opened, form)
    audit = audit_scores(reading.log, by_lot=form.by_lot, matters=matters)
    report = render_page(audit, reading, declaration)
    plan = ask_plan(audit, reading, declaration)
    result = to_json(
        audit,
        reading.log,
        source=reading.source,
        notes=reading.notes,
        declaration=declaration,
    )
    return Conclusion(
        extent=f"{tell(audit).extent}, from {reading.source}",
        verdict=render_verdict(audit),
        findings=render_findings(audit, reading, plan and f"/plan?{plan}"),
        report=b64encode(report.encode()).decode(),
        result=b64encode(result.encode()).decode(),
        plan=plan,
        bonus=_bonus(audit),
    )


def _open(form: AuditForm) -> Look:
    """Return the opened file; where the user gave no scale, the usual one is taken."""
    answers = Answers(
        columns=form.columns or {},
        best=form.best or None,
        matters=form.matters or None,
        date_format=form.date_format or None,
    )
    table = form.log.read(form.sheet or None)
    opened = open_log(table, answers, drop_missing=True)
    return replace(opened, answers=replace(answers, scale=form.scale or opened.usual_scale))


def _understand(
    opened: Look,
) -> tuple[tuple[float, float] | None, float | None, dict[str, InvalidInput]]:
    """Return the scale from worst to best, what matters, and what is wrong with these answers."""
    try:
        scale = opened.scale
    except InvalidInput as error:
        return None, None, {error.parameter: error}
    if scale is None:
        column = opened.columns.get("score", "")
        rule = f"chosen: 1 is often the best score in a column called {column}"
        return None, None, {"best": InvalidInput("best", rule, None)}
    try:
        return scale, opened.matters, {}
    except InvalidInput as error:
        return scale, None, {"matters": error}


def _read(opened: Look, form: AuditForm) -> Reading:
    return opened.read(None if form.people is None else form.people.read())


def _bonus(audit: Audit) -> int | None:
    """Return the favor in percent of the mean score above the worst one."""
    if audit.word not in FOUND or audit.favor is None:
        return None
    total = sum(group.scores * group.mean for group in audit.groups)
    level = abs(total / audit.scores - audit.scale[0])
    bonus = round(100.0 * audit.favor.points / level) if level > 0.0 else 0
    return bonus if 1 <= bonus <= LARGEST_BONUS else None
