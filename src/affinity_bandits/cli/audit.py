"""`affinity audit`: what a log of past decisions shows, and what it cannot."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits import checks, extras
from affinity_bandits.cli import parsing
from affinity_bandits.cli.committees import committees
from affinity_bandits.cli.protected import refuse_protected
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.audit.reading import Query
    from affinity_bandits.audit.result import Audit
    from affinity_bandits.planning.answers import Scale

PANELS = ("recorded", "random")
ASKED = {
    "scale": "Which scores can be given (1..5, 0..100, yes/no)?",
    "committee": "Whom did the committee have before the first row (referrals 30, agencies 10)?",
}


def audit(
    log: Annotated[
        Path | None, typer.Argument(help="CSV or Parquet file, or what serve export wrote.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="Scores: 1..5, 0..100 or yes/no.")] = None,
    committee: Annotated[
        str | None,
        typer.Option(help="Members before the first row: 'own 30, other 10' or 'other 5..15'."),
    ] = None,
    group: Annotated[str | None, typer.Option(help="Column of groups. [by its name]")] = None,
    score: Annotated[str | None, typer.Option(help="Column of scores. [by its name]")] = None,
    time: Annotated[str | None, typer.Option(help="Column of times. [by its name]")] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Rows are in the order of decisions; no times.")
    ] = False,
    chosen: Annotated[
        str | None, typer.Option(help="Column that says who joined. [by its name, or all did]")
    ] = None,
    panel: Annotated[
        str | None,
        typer.Option(
            help="Column of the own group's share of the panel, or columns own=a,other=b of seats."
        ),
    ] = None,
    drawn_from: Annotated[
        str | None, typer.Option(help="The same of whom panels were drawn from. [the committee]")
    ] = None,
    panels: Annotated[
        str | None, typer.Option(help="How panels came about: random or recorded. [recorded]")
    ] = None,
    row_id: Annotated[str | None, typer.Option(help="Column that no two rows share.")] = None,
    sort: Annotated[bool, typer.Option("--sort", help="Sort rows by time first.")] = False,
    dsn: Annotated[
        str | None, typer.Option(help="PostgreSQL database of a query.", envvar="AFFINITY_DSN")
    ] = None,
    query: Annotated[str | None, typer.Option(help="SELECT that returns the log.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page to this .html file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write everything to this .json file.")] = None,
    seed: Annotated[str, typer.Option(help="Seed of the draws that say what is seen.")] = "0",
    responsible_use: Annotated[
        bool,
        typer.Option("--responsible-use", help="I have read docs/responsible-use.md."),
    ] = False,
) -> None:
    """Audit past decisions: do scores rise with a group's share among those who judge?"""
    extras.need("simulation")
    extras.need("audit", "pyarrow", "matplotlib")  # one line to install, not two in turn
    _check_places(report, json)
    source = _source(log, dsn, query)
    draws = checks.integer("seed", parsing.number("seed", seed), low=0, high=2**62)
    on = _scale(scale if scale is not None else _asked("scale"))
    columns = parsing.given(
        group=group,
        score=score,
        time=time,
        chosen=chosen,
        panel=_panel(panel),
        drawn_from=_panel(drawn_from),
        row_id=row_id,
    )
    columns |= {"lowest": on.lowest, "highest": on.highest, "in_order": in_order, "sort": sort}
    found = _audited(
        source,
        _initial(source, columns, committee),
        columns,
        {
            "scale": "yes/no" if on.two_scores else f"{on.lowest:g}..{on.highest:g}",
            "panels": _checked_panels(panels),
            "seed": draws,
            "checked": responsible_use,
        },
    )
    from affinity_bandits.cli.audit_text import text_of

    typer.echo(text_of(found))
    if report is not None:
        from affinity_bandits.audit_report import write_page

        write_page(found, report)
        typer.echo(f"report: {report}")
    if json is not None:
        from affinity_bandits.audit.result import as_json

        json.write_text(as_json(found) + "\n", encoding="utf-8")
        typer.echo(f"everything: {json}   (plan from it: affinity plan --from {json})")


def _audited(
    source: Path | Query,
    initial: Sequence[dict[str, int] | None],
    columns: dict[str, Any],
    settings: dict[str, Any],
) -> Audit:
    """Read the log and audit it, once for each initial committee that is possible."""
    from affinity_bandits.audit.conclude import conclude, weakest
    from affinity_bandits.audit.reading import read_log

    found = []
    for committee in initial:
        reader = read_log(source, initial=committee, **columns)
        if not settings["checked"]:
            refuse_protected("group", [reader.columns.group, *reader.initial])
        summary = reader.summary()
        recorded = summary.on_record is not None
        if settings["panels"] is not None and not recorded:
            rule = "left out unless panels are in the log"
            raise InvalidInput("panels", rule, settings["panels"])
        found.append(
            conclude(
                summary,
                source=str(source) if isinstance(source, Path) else "a query",
                scale=settings["scale"],
                lowest=columns["lowest"],
                highest=columns["highest"],
                panels=settings["panels"] or ("recorded" if recorded else None),
                seed=settings["seed"],
                notes=reader.warnings,
            )
        )
    return weakest(found)


def _source(log: Path | None, dsn: str | None, query: str | None) -> Path | Query:
    """Return the file or the query that the log is in."""
    if (log is None) == (query is None):
        raise InvalidInput(
            "log", "a file or --query, one of them", None if log is None else str(log)
        )
    if query is None:
        assert log is not None
        return log
    if dsn is None:
        raise InvalidInput("dsn", "given where there is a query, or AFFINITY_DSN set", None)
    from affinity_bandits.audit.reading import Query

    return Query(dsn, query)


def _initial(
    source: Path | Query, columns: dict[str, Any], said: str | None
) -> Sequence[dict[str, int] | None]:
    """Return initial committees that are possible; None is the one that the log itself tells."""
    from affinity_bandits.audit.reading import read_log

    if said is None:
        try:
            read_log(source, initial=None, **columns)
        except InvalidInput as error:
            if error.parameter != "initial":
                raise
            said = _asked("committee")
        else:
            return [None]
    if said is None:
        rule = "given: whom it had before the first row, e.g. --committee 'own 30, other 10'"
        raise InvalidInput("committee", rule, None)
    return committees("committee", said)


def _asked(name: str) -> str | None:
    """Ask for what was not said, if somebody is there to answer."""
    return typer.prompt(ASKED[name], type=str) if sys.stdin.isatty() else None


def _scale(said: str | None) -> Scale:
    from affinity_bandits.planning import answers

    if said is None:
        raise InvalidInput(
            "scale", "given: the lowest and the highest score, e.g. --scale 1..5", None
        )
    return answers.scale("scale", said)


def _panel(said: str | None) -> str | dict[str, str] | None:
    """Return one column with shares, or for each group the column with its seats."""
    if said is None or "=" not in said:
        return said
    columns = {}
    for item in said.split(","):
        name, _, column = item.partition("=")
        if not name.strip() or not column.strip():
            rule = "a column of shares, or for each group a column of seats: own=a,other=b"
            raise InvalidInput("panel", rule, said)
        columns[name.strip()] = column.strip()
    return columns


def _checked_panels(said: str | None) -> str | None:
    return None if said is None else checks.choice("panels", said, PANELS)


def _check_places(report: Path | None, json: Path | None) -> None:
    """Refuse places that cannot be written to: now, not after the work."""
    for name, path, suffix in (("report", report, ".html"), ("json", json, ".json")):
        if path is None:
            continue
        if path.suffix != suffix:
            raise InvalidInput(name, f"a file that ends in {suffix}", str(path))
        if not path.parent.is_dir():
            raise InvalidInput(name, "in a directory", str(path))
        if path.is_dir():
            raise InvalidInput(name, "a file, not a directory", str(path))
