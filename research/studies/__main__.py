"""List, show and run the studies: `python -m research.studies`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from affinity_bandits.base.errors import AffinityError
from affinity_bandits.cli import options
from affinity_bandits.cli.paper import WORKERS_HELP, chosen_scale, collection_app, run_items

study_app = collection_app(
    "research.studies:STUDIES", "The paper's open problems, run and checked."
)


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
    from research.studies import STUDIES

    scale = chosen_scale({"quick": quick, "full": full})
    run_items(STUDIES, identities or [], scale, out, executor, workers, address)


def main() -> None:
    """Run the command; a user's mistake prints one line and exits with status 2."""
    try:
        study_app(prog_name="python -m research.studies")
    except AffinityError as error:
        print(f"studies: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
