"""The application with all commands of `affinity`."""

from __future__ import annotations

from typing import Annotated

import typer

from affinity_bandits._version import __version__
from affinity_bandits.cli.audit import audit
from affinity_bandits.cli.local_app import local_app
from affinity_bandits.cli.options import biases, noises, policies
from affinity_bandits.cli.paper import paper_app
from affinity_bandits.cli.plan import plan
from affinity_bandits.cli.serve import add_serve
from affinity_bandits.cli.show import show
from affinity_bandits.cli.simulate import simulate
from affinity_bandits.cli.sweep import app as sweep_app

app = typer.Typer(
    name="affinity",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help texts are no markup: [run] is a table of a file
    help="Sequential choices whose feedback favors what was chosen before.",
)
app.command()(simulate)
app.command()(show)
app.command()(plan)
app.command()(audit)
app.command("app")(local_app)
app.command()(policies)
app.command()(biases)
app.command()(noises)
app.add_typer(paper_app, name="paper")
app.add_typer(sweep_app, name="sweep")
add_serve(app)


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="After an error, print its traceback and its causes.")
    ] = False,
) -> None:
    """Study sequential choices whose feedback favors earlier choices."""
    del debug  # read by `main`, which takes it in any place
    if version:
        typer.echo(__version__)
        raise typer.Exit
