"""`affinity paper`: the paper's figures and claims, run and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affinity_bandits.cli import executors
from affinity_bandits.cli.listing import print_lines

if TYPE_CHECKING:
    from affinity_bandits.paper import Outcome

PROCESSES = 2
"""If not told how many."""

app = typer.Typer(no_args_is_help=True, help="The paper's figures and claims, run and checked.")


@app.command("list")
def list_items() -> None:
    """List what there is, a line each."""
    from affinity_bandits.paper import items

    print_lines(("item", "what it shows"), [(i.identity, i.title) for i in items().values()])


@app.command()
def show(identity: Annotated[str, typer.Argument(help="An item, e.g. figure-3.")]) -> None:
    """Tell an item's settings and labels."""
    from affinity_bandits.paper import chosen

    (item,) = chosen([identity])
    typer.echo(f"{item.identity}: {item.title}\n\n{item.notes}\n")
    typer.echo(f"labels: {', '.join(item.labels)}")
    for scale, settings in item.settings.items():
        typer.echo(f"{scale}: {settings}")


@app.command()
def run(
    identities: Annotated[
        list[str] | None, typer.Argument(help="Items, e.g. figure-3 figure-11; all if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repeats.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Tight intervals (the default).")] = False,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="As many repeats as the paper took.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("paper"),
    executor: Annotated[str, typer.Option(help=executors.KIND_HELP)] = "processes",
    address: Annotated[str | None, typer.Option(help=executors.ADDRESS_HELP)] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes, 1 works in this one; with ray, cores. [2; with ray, all]",
        ),
    ] = None,
) -> None:
    """Run items; write pictures, data, claims and one report.

    Status 1 if a claim fails that is not known to.
    """
    from affinity_bandits.cli.bars import item_bar
    from affinity_bandits.errors import InvalidInput
    from affinity_bandits.experiments import Store
    from affinity_bandits.paper import StoreCellRunner, chosen, run_item
    from affinity_bandits.paper.report import write_report
    from affinity_bandits.plots.style import need_matplotlib

    scales = [
        name
        for name, wanted in (("quick", quick), ("full", full), ("as-published", as_published))
        if wanted
    ]
    if len(scales) > 1:
        raise InvalidInput("scale", "one of --quick, --full and --as-published", scales)
    scale = scales[0] if scales else "full"
    wanted = chosen(identities or [])
    need_matplotlib()  # said now, not after the first item's work
    hands = executors.executor(executor, workers, address, usual=PROCESSES)
    store = Store(out / "store")
    outcomes = []
    try:
        for item in wanted:
            with item_bar(item.identity) as progress:
                outcome = run_item(item, scale, StoreCellRunner(store, hands, progress), out)
            outcomes.append(outcome)
            _tell(outcome)
    except KeyboardInterrupt:
        typer.echo("affinity: interrupted; the same command goes on where this one stopped")
        raise typer.Exit(130) from None
    write_report(outcomes, out / "report.html")
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    holding = sum(claim.holds for claim in claims)
    typer.echo(f"{holding} of {len(claims)} claims hold; report: {out / 'report.html'}")
    if not all(claim.as_known for claim in claims):
        raise typer.Exit(1)


def _tell(outcome: Outcome) -> None:
    holding = sum(claim.holds for claim in outcome.claims)
    typer.echo(f"{outcome.item.identity}: {holding} of {len(outcome.claims)} claims hold")
    for claim in outcome.claims:
        if not claim.holds:
            known = f" [known: errata, {claim.erratum}]" if claim.erratum else ""
            typer.echo(f"  fails: {claim.sentence} ({claim.evidence}){known}")
