"""`affinity study`: the paper's open problems, run and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affinity_bandits.cli import executors, items

app = typer.Typer(no_args_is_help=True, help="The paper's open problems, run and checked.")


@app.command("list")
def list_studies() -> None:
    """List what there is, a line each."""
    from affinity_bandits.studies import studies

    items.list_items("study", studies().values())


@app.command()
def show(identity: Annotated[str, typer.Argument(help="A study, e.g. horizon.")]) -> None:
    """Tell a study's settings and its page."""
    from affinity_bandits.studies import chosen

    items.show_item(*chosen([identity]))


@app.command()
def run(
    identities: Annotated[
        list[str] | None, typer.Argument(help="Studies, e.g. horizon; all if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few repeats.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Tight intervals (the default).")] = False,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("studies"),
    executor: Annotated[str, typer.Option(help=executors.KIND_HELP)] = "processes",
    address: Annotated[str | None, typer.Option(help=executors.ADDRESS_HELP)] = None,
    workers: Annotated[int | None, typer.Option(help=items.WORKERS_HELP)] = None,
) -> None:
    """Run studies; write pictures, data, claims and one report.

    Status 1 if a claim fails.
    """
    from affinity_bandits.studies import chosen
    from affinity_bandits.studies.registry import COVER

    scale = items.chosen_scale({"quick": quick, "full": full})
    items.run_items(chosen(identities or []), scale, out, executor, workers, address, COVER)
