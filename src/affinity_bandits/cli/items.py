"""What `affinity paper` and `affinity study` share: items listed, shown, run and reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from affinity_bandits.cli import executors
from affinity_bandits.cli.listing import print_lines

if TYPE_CHECKING:
    from affinity_bandits.paper import Item, Outcome
    from affinity_bandits.paper.report import Cover

PROCESSES = 2
"""If not told how many."""

WORKERS_HELP = "Processes, 1 works in this one; with ray, cores. [2; with ray, all]"


def list_items(kind: str, items: Iterable[Item]) -> None:
    """Print a line an item."""
    print_lines((kind, "what it shows"), [(item.identity, item.title) for item in items])


def show_item(item: Item) -> None:
    """Print an item's settings and labels."""
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
    wanted: list[Item],
    scale: str,
    out: Path,
    executor: str,
    workers: int | None,
    address: str | None,
    cover: Cover,
) -> None:
    """Run items; write pictures, data, claims and one report; status 1 if a verdict is not known.

    What is finished is not run again, so the same command goes on where one was interrupted.
    """
    from affinity_bandits.cli.bars import item_bar
    from affinity_bandits.experiments import Store
    from affinity_bandits.paper import StoreCellRunner, run_item
    from affinity_bandits.paper.report import write_report
    from affinity_bandits.plots.style import need_matplotlib

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
    write_report(outcomes, out / "report.html", cover)
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
