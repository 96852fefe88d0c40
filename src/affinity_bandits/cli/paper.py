"""`affinity paper`: list, show and run items, and check their claims."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
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


def collection_app(place: str, about: str) -> typer.Typer:
    """Return the commands `list` and `show` of a collection, imported from `place` when called."""
    app = typer.Typer(no_args_is_help=True, help=about)

    @app.command("list")
    def list_items() -> None:
        """List all items."""
        of: Collection = resolve_name(place)
        rows = [(item.identity, item.title) for item in of.items().values()]
        print_table((of.kind, "what it shows"), rows)

    @app.command("show")
    def show_item(identity: Annotated[str, typer.Argument(help="As 'list' shows it.")]) -> None:
        """Tell the settings of an item, and what it covers."""
        from affinity_bandits.paper.statements import with_number

        (item,) = resolve_name(place).choose([identity])
        typer.echo(f"{item.identity}: {item.title}\n\n{item.notes}\n")
        typer.echo(f"statements: {', '.join(map(with_number, item.labels))}")
        for scale, settings in item.settings.items():
            typer.echo(f"{scale}: {settings}")

    return app


def chosen_scale(wanted: Mapping[str, bool]) -> str:
    """Return the scale whose flag was given; by default "full"."""
    from affinity_bandits.base.errors import InvalidInput

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
    """Run items and write one report; exit with status 1 if a verdict is unexpected.

    Finished items are kept, so the same command resumes an interrupted one.
    """
    from affinity_bandits.base.progress import show_progress
    from affinity_bandits.experiments import Store, Summary
    from affinity_bandits.paper import ItemOutcome, StoreCellRunner, run_item
    from affinity_bandits.paper.runner import add_finished, render_report
    from affinity_bandits.plots.style import need_matplotlib

    wanted = of.choose(identities)
    need_matplotlib()  # said now, not after the first item's work
    hands = options.executor(executor, workers, address, usual=PROCESSES)
    store = Store(out / "store")
    outcomes: list[ItemOutcome] = []
    with options.resumable():
        for item in wanted:
            finished = Summary()
            place = f"{len(outcomes) + 1} of {len(wanted)}, {item.identity}"
            with show_progress(words=partial(_words, place, finished)):
                outcome = run_item(item, scale, StoreCellRunner(store, hands, finished), out)
            outcomes.append(outcome)
            typer.echo(f"{item.identity}: {outcome.holding} of {len(outcome.claims)} claims hold")
            for claim in outcome.claims:
                known = f" [known: errata, {claim.erratum}]" if claim.erratum else ""
                if not claim.holds:
                    typer.echo(f"  fails: {claim.sentence} ({claim.evidence}){known}")
    report = out / "report.html"
    report.write_text(render_report(add_finished(outcomes, of, out), of), encoding="utf-8")
    holding = sum(outcome.holding for outcome in outcomes)
    claims = sum(len(outcome.claims) for outcome in outcomes)
    typer.echo(f"{holding} of {claims} claims hold; report: {report}")
    if not all(outcome.as_known for outcome in outcomes):
        raise typer.Exit(1)


def _words(name: str, finished: Summary) -> str:
    return f"{name}: {finished.found + finished.run:,} runs finished"


paper_app = collection_app(
    "affinity_bandits.paper:PAPER", "The paper's figures and claims, run and checked."
)


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

    Status 1 if a claim fails unexpectedly.
    """
    from affinity_bandits.paper import PAPER

    scale = chosen_scale({"quick": quick, "full": full, "as-published": as_published})
    run_items(PAPER, identities or [], scale, out, executor, workers, address)
