"""`affinity paper`: the paper's figures and claims, run and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affinity_bandits.cli import executors, items

app = typer.Typer(no_args_is_help=True, help="The paper's figures and claims, run and checked.")


@app.command("list")
def list_items() -> None:
    """List what there is, a line each."""
    from affinity_bandits.paper import items as paper_items

    items.list_items("item", paper_items().values())


@app.command()
def show(identity: Annotated[str, typer.Argument(help="An item, e.g. figure-3.")]) -> None:
    """Tell an item's settings and labels."""
    from affinity_bandits.paper import chosen

    items.show_item(*chosen([identity]))


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
    workers: Annotated[int | None, typer.Option(help=items.WORKERS_HELP)] = None,
) -> None:
    """Run items; write pictures, data, claims and one report.

    Status 1 if a claim fails that is not known to.
    """
    from affinity_bandits.paper import chosen
    from affinity_bandits.paper.report import PAPER

    scale = items.chosen_scale({"quick": quick, "full": full, "as-published": as_published})
    wanted = chosen(identities or [])
    items.run_items(wanted, scale, out, executor, workers, address, PAPER)
