"""`affinity paper` and `affinity study`: list, show and run items, and check their claims."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affinity_bandits.cli import options
from affinity_bandits.cli.options import print_table

if TYPE_CHECKING:
    from affinity_bandits.experiments import Summary
    from affinity_bandits.paper.item import Collection


PROCESSES = 2
"""The default number."""

WORKERS_HELP = "Processes, 1 works in this one; with ray, cores. [2; with ray, all]"


def list_items(of: Collection) -> None:
    """Print one line per item."""
    rows = [(item.identity, item.title) for item in of.items().values()]
    print_table((of.kind, "what it shows"), rows)


def show_item(of: Collection, identity: str) -> None:
    """Print an item's settings and labels."""
    (item,) = of.choose([identity])
    typer.echo(f"{item.identity}: {item.title}\n\n{item.notes}\n")
    typer.echo(f"labels: {', '.join(item.labels)}")
    for scale, settings in item.settings.items():
        typer.echo(f"{scale}: {settings}")


def chosen_scale(wanted: Mapping[str, bool]) -> str:
    """Return the scale whose flag was given; "full" if none was."""
    from affinity_bandits.errors import InvalidInput

    scales = [name for name, given in wanted.items() if given]
    if len(scales) > 1:
        *most, last = (f"--{name}" for name in wanted)
        raise InvalidInput("scale", f"one of {', '.join(most)} and {last}", scales)
    return scales[0] if scales else "full"


def run_items(
    of: Collection,
    identities: list[str],
    scale: str,
    out: Path,
    executor: str,
    workers: int | None,
    address: str | None,
) -> None:
    """Run items and write one report; exit with status 1 if a verdict is not the expected one.

    Finished items are not run again, so the same command resumes an interrupted one.
    """
    from affinity_bandits.experiments import Store, Summary
    from affinity_bandits.paper import ItemOutcome, StoreCellRunner, run_item
    from affinity_bandits.paper.runner import add_finished, render_report
    from affinity_bandits.plots.style import need_matplotlib
    from affinity_bandits.progress import show_status

    wanted = of.choose(identities)
    need_matplotlib()  # said now, not after the first item's work
    hands = options.executor(executor, workers, address, usual=PROCESSES)
    store = Store(out / "store")
    outcomes: list[ItemOutcome] = []
    try:
        for item in wanted:
            finished = Summary()
            place = f"{len(outcomes) + 1} of {len(wanted)}, {item.identity}"
            with show_status(partial(_words, place, finished)):
                outcome = run_item(item, scale, StoreCellRunner(store, hands, finished), out)
            outcomes.append(outcome)
            typer.echo(f"{item.identity}: {outcome.holding} of {len(outcome.claims)} claims hold")
            for claim in outcome.claims:
                known = f" [known: errata, {claim.erratum}]" if claim.erratum else ""
                if not claim.holds:
                    typer.echo(f"  fails: {claim.sentence} ({claim.evidence}){known}")
    except KeyboardInterrupt:
        typer.echo("affinity: interrupted; the same command goes on where this one stopped")
        raise typer.Exit(130) from None
    report = out / "report.html"
    report.write_text(render_report(add_finished(outcomes, of, out), of), encoding="utf-8")
    holding = sum(outcome.holding for outcome in outcomes)
    claims = sum(len(outcome.claims) for outcome in outcomes)
    typer.echo(f"{holding} of {claims} claims hold; report: {report}")
    if not all(outcome.as_known for outcome in outcomes):
        raise typer.Exit(1)


def _words(name: str, finished: Summary) -> str:
    return f"{name}: {finished.found + finished.run:,} runs finished"


paper_app = typer.Typer(
    no_args_is_help=True, help="The paper's figures and claims, run and checked."
)


@paper_app.command("list")
def list_paper() -> None:
    """List what there is, a line each."""
    from affinity_bandits.paper import PAPER

    list_items(PAPER)


@paper_app.command("show")
def show_paper(identity: Annotated[str, typer.Argument(help="An item, e.g. figure-3.")]) -> None:
    """Tell an item's settings and labels."""
    from affinity_bandits.paper import PAPER

    show_item(PAPER, identity)


@paper_app.command("run")
def run_paper(
    identities: Annotated[
        list[str] | None, typer.Argument(help="Items, e.g. figure-3 figure-11; all if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repeats.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Tight intervals (the default).")] = False,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="As many repeats as the paper took.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("paper"),
    executor: Annotated[str, typer.Option(help=options.KIND_HELP)] = "processes",
    address: Annotated[str | None, typer.Option(help=options.ADDRESS_HELP)] = None,
    workers: Annotated[int | None, typer.Option(help=WORKERS_HELP)] = None,
) -> None:
    """Run items; write pictures, data, claims and one report.

    Status 1 if a claim fails that is not known to.
    """
    from affinity_bandits.paper import PAPER

    scale = chosen_scale({"quick": quick, "full": full, "as-published": as_published})
    run_items(PAPER, identities or [], scale, out, executor, workers, address)


study_app = typer.Typer(no_args_is_help=True, help="The paper's open problems, run and checked.")


@study_app.command("list")
def list_studies() -> None:
    """List what there is, a line each."""
    from affinity_bandits.studies import STUDIES

    list_items(STUDIES)


@study_app.command("show")
def show_study(identity: Annotated[str, typer.Argument(help="A study, e.g. horizon.")]) -> None:
    """Tell a study's settings and its page."""
    from affinity_bandits.studies import STUDIES

    show_item(STUDIES, identity)


@study_app.command("run")
def run_study(
    identities: Annotated[
        list[str] | None, typer.Argument(help="Studies, e.g. horizon; all if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repeats.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Tight intervals (the default).")] = False,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("studies"),
    executor: Annotated[str, typer.Option(help=options.KIND_HELP)] = "processes",
    address: Annotated[str | None, typer.Option(help=options.ADDRESS_HELP)] = None,
    workers: Annotated[int | None, typer.Option(help=WORKERS_HELP)] = None,
) -> None:
    """Run studies; write pictures, data, claims and one report.

    Status 1 if a claim fails.
    """
    from affinity_bandits.studies import STUDIES

    scale = chosen_scale({"quick": quick, "full": full})
    run_items(STUDIES, identities or [], scale, out, executor, workers, address)
