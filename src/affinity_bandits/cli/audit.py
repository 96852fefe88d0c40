"""`affinity audit`: from a file to the verdict as text of 80 columns, a page and JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affinity_bandits.base import errors
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import MOST_LISTED, CallerError
from affinity_bandits.base.words import some
from affinity_bandits.base.workers import BoundedWorkers
from affinity_bandits.cli import options
from affinity_bandits.cli.options import align_rows, wrap_text

if TYPE_CHECKING:
    from affinity_bandits.audit.conclude import Audit
    from affinity_bandits.audit.look import Look
    from affinity_bandits.audit.read import Reading
    from affinity_bandits.audit.tables import Table


def format_audit(audit: Audit, reading: Reading) -> str:
    """Return the verdict, its basis, other explanations and the next steps."""
    from affinity_bandits.audit.sentences import tell

    story = tell(audit)
    used = ", ".join(f"{role.replace('_', ' ')} = {name}" for role, name in reading.columns.items())
    parts = [
        wrap_text(f"{story.heading} {story.sentence}"),
        *map(wrap_text, story.reasons),
        *(wrap_text(f"Warning: {one}", "  ") for one in story.warnings),
        "",
        _groups(audit),
        *_list("What would explain it away:", story.explanations),
        *_list("What this file could have shown:", story.power),
        *_list("Next:", story.steps),
        "",
        wrap_text(f"Read {story.extent} from {reading.source}. {story.direction} Columns: {used}."),
        *(wrap_text(f"- {note}", "  ") for note in reading.notes),
    ]
    return "\n".join(parts)


def _groups(audit: Audit) -> str:
    from affinity_bandits.audit.sentences import format_mean

    judged = any(group.own[0] or group.other[0] for group in audit.groups)
    head: tuple[str, ...] = (
        ("mean score (number)", "own judges", "other judges") if judged else ("", "mean score")
    )
    rows = [head]
    for group in audit.groups:
        parts = (group.own, group.other) if judged else ((group.scores, group.mean),)
        rows.append((f"  {some([group.name], 1)}", *(format_mean(audit, part) for part in parts)))
    return align_rows(rows)


def _list(title: str, sentences: tuple[str, ...]) -> list[str]:
    return ["", title, *(wrap_text(f"- {one}", "  ") for one in sentences)] if sentences else []


ASK_SCALE = "Which scores could be given, from the lowest to the highest?"


def audit(
    log: Annotated[
        Path,
        typer.Argument(
            help="Log with one row per score: .csv, .xlsx, .parquet or serve export; - for a pipe."
        ),
    ],
    scale: Annotated[
        str | None,
        typer.Option(help="Scores: 1..5, 0..100 or yes/no; 5..1 if 1 is the best score."),
    ] = None,
    best: Annotated[
        str | None,
        typer.Option(
            help="The best score: highest or lowest. [highest; asked for grades and ranks]"
        ),
    ] = None,
    matters: Annotated[
        str | None,
        typer.Option(help="The smallest favor that matters, in points. [a tenth of the scale]"),
    ] = None,
    candidate: Annotated[str | None, typer.Option(help="Column of candidates.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of candidates' groups.")] = None,
    judge: Annotated[str | None, typer.Option(help="Column of judges.")] = None,
    judge_group: Annotated[str | None, typer.Option(help="Column of judges' groups.")] = None,
    score: Annotated[str | None, typer.Option(help="Column of scores.")] = None,
    session: Annotated[str | None, typer.Option(help="Column of rounds or panels.")] = None,
    date: Annotated[str | None, typer.Option(help="Column of dates.")] = None,
    hired: Annotated[str | None, typer.Option(help="Column that says who was chosen.")] = None,
    people: Annotated[
        Path | None, typer.Option(help="Table of judges and their groups, if the log has none.")
    ] = None,
    date_format: Annotated[
        str | None,
        typer.Option(help="The date 2026-12-31 as the log has it: 31.12.2026, 12/31/26. [guessed]"),
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of the workbook. [guessed]")] = None,
    by_lot: Annotated[
        bool,
        typer.Option(
            "--by-lot", help="One judge per candidate, and chance decided who judged whom."
        ),
    ] = False,
    groups_are: Annotated[
        str | None, typer.Option(help="Declare what the groups are, such as sources.")
    ] = None,
    responsible: Annotated[str | None, typer.Option(help="Declare who is responsible.")] = None,
    purpose: Annotated[
        str | None, typer.Option(help="Declare why you audit. See docs/start/responsible-use.md.")
    ] = None,
    protected: Annotated[
        bool,
        typer.Option("--protected", help="Declare the groups as protected attributes of people."),
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page to this .html file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result to this .json file.")] = None,
) -> None:
    """Audit past scores: do judges favor their own group?

    Columns are guessed from their names; name them with the flags otherwise.
    """
    errors.need("audit", "pyarrow", "python_calamine", "matplotlib")
    options.check_place("report", report, (".html",))
    options.check_place("json", json, (".json",))
    declared = options.drop_missing(groups_are=groups_are, responsible=responsible, purpose=purpose)
    declaration = None
    if declared or protected:
        declaration = Declaration.from_json(declared | {"protected": protected})
        declaration.check_audit()
    from affinity_bandits.audit.conclude import audit_scores
    from affinity_bandits.audit.look import Answers, open_log
    from affinity_bandits.audit.result import to_json

    given = options.drop_missing(
        candidate=candidate,
        group=group,
        judge=judge,
        judge_group=judge_group,
        score=score,
        session=session,
        date=date,
        hired=hired,
    )
    workers = BoundedWorkers(1)
    table = _read_file(workers, log, sheet, list(given.values()))
    look = _complete(open_log(table, Answers(given, scale, best, matters, date_format)))
    smallest = look.matters  # before the log is read: a wrong one ends the command
    reading = look.read(None if people is None else _read_file(workers, people))
    if declaration is None and sys.stdin.isatty():
        declaration = options.ask_declaration(comparison=False)
    found = audit_scores(reading.log, by_lot=by_lot, matters=smallest)
    typer.echo(format_audit(found, reading))
    if report is not None:
        from affinity_bandits.plots.audit_report import write_report

        write_report(found, report, reading=reading, declaration=declaration)
        typer.echo(f"report: {report}")
    if json is not None:
        text = to_json(
            found, reading.log, source=reading.source, notes=reading.notes, declaration=declaration
        )
        json.write_text(text + "\n", encoding="utf-8")
        typer.echo(f"result: {json}   (plan from it: affinity plan --from {json})")


def _read_file(
    workers: BoundedWorkers, path: Path, sheet: str | None = None, wanted: Sequence[str] = ()
) -> Table:
    """Read a file; a workbook in a process that it can neither end nor keep busy for long."""
    from affinity_bandits.audit.tables import is_workbook, read_pipe, read_table

    content = read_pipe(path)
    read = read_table
    if content is not None:
        path, read = Path("the pipe"), partial(read_table, content=content)
    if not is_workbook(path, content):
        return read(path, sheet, wanted)
    table: Table = workers.run(read, path, sheet, wanted)
    return table


def _complete(look: Look) -> Look:
    """Ask for what is missing, or list it in one error."""
    from affinity_bandits.audit.columns import ROLES
    from affinity_bandits.audit.scale import ASK_BEST

    asks = sys.stdin.isatty()
    missing = []
    for role, fitting in look.unclear.items():
        if asks:
            words = f"Which column is {ROLES[role]} ({_list_columns(fitting)})?"
            example = fitting[0] if fitting else ""
            look = options.ask_until(words, partial(look.answer, role), example=example)
        else:
            listed = ", ".join(f"{name} ({look.table.sample(name)})" for name in fitting[:6])
            flag = f"--{role.replace('_', '-')} {fitting[0]!r}" if fitting else f"--{role}"
            missing.append(f"which column is {ROLES[role]}, for example {flag}; there are {listed}")
    guessed = look.ends is None
    if guessed:
        seen = look.seen
        found = "" if seen is None else f" (the file has {seen[0]:g} to {seen[1]:g})"
        if asks:
            answer = partial(look.answer, "scale")
            look = options.ask_until(f"{ASK_SCALE}{found}", answer, example=look.usual_scale)
        else:
            usual = look.usual_scale
            missing.append(f"the lowest and the highest possible score, --scale {usual}{found}")
    name, directed = look.columns.get("score", ""), look.scale
    if directed is None and not asks:
        missing.append(
            "which score is the best, as 1 often is in a column called "
            f"{name!r}: --best lowest or --best highest"
        )
    if missing:
        head = f"{look.table.source} needs {'an answer' if len(missing) == 1 else 'answers'}:"
        raise CallerError("\n".join([head, *(f"- {one}" for one in missing)]))
    assert look.ends is not None
    if directed is None or (guessed and not look.answers.best and look.ends[0] < look.ends[1]):
        words = ASK_BEST if directed else f"{ASK_BEST} It is often 1 in a column called {name}."
        look = options.ask_until(
            words,
            partial(look.answer, "best"),
            usual="highest" if directed else "",
            example="lowest",
        )
    if look.answers.matters is None and asks:
        words = "How small a favor would still matter, in points?"
        answer = partial(look.answer, "matters")
        return options.ask_until(words, answer, usual=look.usual_favor, example="0.3")
    return look


def _list_columns(names: Sequence[str]) -> str:
    more = len(names) - MOST_LISTED
    return ", ".join([*names[:MOST_LISTED], *([f"{more:,} more"] if more > 0 else [])])
