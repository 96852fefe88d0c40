"""The result of an audit, as text of 80 columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affinity_bandits import errors
from affinity_bandits.cli import options
from affinity_bandits.cli.options import align_rows, wrap_text
from affinity_bandits.declaration import Declaration
from affinity_bandits.displays import some
from affinity_bandits.errors import MOST_LISTED, CallerError, InvalidInput, one_of
from affinity_bandits.workers import BoundedWorkers

if TYPE_CHECKING:
    from affinity_bandits.audit.conclude import Audit
    from affinity_bandits.audit.read import Reading
    from affinity_bandits.audit.tables import Table


def format_audit(audit: Audit, reading: Reading) -> str:
    """Return the verdict, its basis, other explanations and the next steps."""
    from affinity_bandits.audit.sentences import tell

    story = tell(audit)
    used = ", ".join(f"{role.replace('_', ' ')} = {name}" for role, name in reading.columns.items())
    parts = [
        wrap_text(f"{story.heading}. {story.sentence}"),
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
        Path | None,
        typer.Argument(help="Log with one row per score: .csv, .xlsx, .parquet or serve export."),
    ] = None,
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
    dsn: Annotated[
        str | None, typer.Option(help="PostgreSQL database of a query.", envvar="AFFINITY_DSN")
    ] = None,
    query: Annotated[str | None, typer.Option(help="SELECT that returns the log.")] = None,
    groups_are: Annotated[
        str | None, typer.Option(help="Declare what the groups are, such as sources.")
    ] = None,
    responsible: Annotated[str | None, typer.Option(help="Declare who is responsible.")] = None,
    purpose: Annotated[
        str | None, typer.Option(help="Declare why you audit. See docs/responsible-use.md.")
    ] = None,
    protected: Annotated[
        bool,
        typer.Option("--protected", help="Declare the groups as protected attributes of people."),
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page to this .html file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result to this .json file.")] = None,
) -> None:
    """Audit past scores: do judges favor candidates of their own group?

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
    from affinity_bandits.audit.read import read_scores
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
    table = _read_source(workers, log, dsn, query, sheet, list(given.values()))
    columns, ends, smallest = _complete(table, given, scale, best or "", matters)
    reading = read_scores(
        table,
        columns,
        scale=ends,
        people=None if people is None else _read_file(workers, people),
        date_format=date_format,
    )
    if declaration is None and sys.stdin.isatty():
        declaration = options.ask_declaration(comparison=False)
    found = audit_scores(reading.log, by_lot=by_lot, matters=smallest)
    typer.echo(format_audit(found, reading))
    if report is not None:
        from affinity_bandits.audit_report import write_page

        write_page(found, report, reading=reading, declaration=declaration)
        typer.echo(f"report: {report}")
    if json is not None:
        text = to_json(
            found, reading.log, source=reading.source, notes=reading.notes, declaration=declaration
        )
        json.write_text(text + "\n", encoding="utf-8")
        typer.echo(f"result: {json}   (plan from it: affinity plan --from {json})")


def _read_source(
    workers: BoundedWorkers,
    log: Path | None,
    dsn: str | None,
    query: str | None,
    sheet: str | None,
    wanted: Sequence[str],
) -> Table:
    from affinity_bandits.audit.tables import read_query

    if (log is None) == (query is None):
        raise InvalidInput("log", "a file or --query, one of them", log and str(log))
    if log is not None:
        return _read_file(workers, log, sheet, wanted)
    if dsn is None:
        raise InvalidInput("dsn", "given with --query, or AFFINITY_DSN set", None)
    assert query is not None
    return read_query(dsn, query)


def _read_file(
    workers: BoundedWorkers, path: Path, sheet: str | None = None, wanted: Sequence[str] = ()
) -> Table:
    """Read a file; a workbook in a process that it can neither end nor keep busy for long."""
    from affinity_bandits.audit.tables import is_workbook, read_table

    if not is_workbook(path):
        return read_table(path, sheet, wanted)
    table: Table = workers.run(read_table, path, sheet, wanted)
    return table


def _complete(
    table: Table, given: dict[str, str], scale: str | None, best: str, matters: str | None
) -> tuple[dict[str, str], tuple[float, float], float | None]:
    """Return the columns, the worst and the best score, and the smallest favor that matters.

    Ask for what is missing, or list it in one error. What matters is None if nobody says so.
    """
    from affinity_bandits.audit.columns import ROLES
    from affinity_bandits.audit.conclude import MATTERS
    from affinity_bandits.audit.read import find_columns, guess_scale, score_range
    from affinity_bandits.audit.scale import ASK_BEST, choose_best, direct_scale
    from affinity_bandits.planning.situation import parse_ends, parse_favor

    columns, unclear = find_columns(table, given)
    asks = sys.stdin.isatty()
    missing = []
    for role, fitting in unclear.items():
        if asks:
            read = partial(_find_column, fitting)
            example = fitting[0] if fitting else ""
            words = f"Which column is {ROLES[role]} ({_list_columns(fitting)})?"
            columns[role] = options.ask_until(words, read, example=example)
        else:
            listed = ", ".join(f"{name} ({table.sample(name)})" for name in fitting[:6])
            flag = f"--{role.replace('_', '-')} {fitting[0]!r}" if fitting else f"--{role}"
            missing.append(f"which column is {ROLES[role]}, for example {flag}; there are {listed}")
    ends = None if scale is None else parse_ends("scale", scale)
    if ends is None:
        seen = score_range(table, columns["score"]) if "score" in columns else None
        found = "" if seen is None else f" (the file has {seen[0]:g} to {seen[1]:g})"
        usual = "1..5" if seen is None else guess_scale(seen)
        if asks:
            words = f"{ASK_SCALE}{found}"
            ends = options.ask_until(words, partial(parse_ends, "scale"), example=usual)
        else:
            missing.append(f"the lowest and the highest possible score, --scale {usual}{found}")
    name = columns.get("score", "")
    directed = direct_scale(ends or (0.0, 1.0), best, name)
    if directed is None and not asks:
        missing.append(
            "which score is the best, as 1 often is in a column called "
            f"{name!r}: --best lowest or --best highest"
        )
    if missing:
        head = f"{table.source} needs {'an answer' if len(missing) == 1 else 'answers'}:"
        raise CallerError("\n".join([head, *(f"- {one}" for one in missing)]))
    assert ends is not None
    if directed is None or (scale is None and not best and ends[0] < ends[1]):
        words = ASK_BEST if directed else f"{ASK_BEST} It is often 1 in a column called {name}."
        directed = options.ask_until(
            words,
            partial(choose_best, ends),
            usual="highest" if directed else "",
            example="lowest",
        )
    if matters is None and asks:
        words = "How small a favor would still matter, in points?"
        usual = f"{MATTERS * abs(ends[1] - ends[0]):g}"
        read_favor = partial(parse_favor, "matters", ends=ends)
        return columns, directed, options.ask_until(words, read_favor, usual=usual, example="0.3")
    return columns, directed, None if matters is None else parse_favor("matters", matters, ends)


def _list_columns(names: Sequence[str]) -> str:
    more = len(names) - MOST_LISTED
    return ", ".join([*names[:MOST_LISTED], *([f"{more:,} more"] if more > 0 else [])])


def _find_column(names: Sequence[str], said: str) -> str:
    for name in names:
        if name.casefold() == said.casefold():
            return name
    raise InvalidInput("column", one_of(names, said, columns=True), said)
