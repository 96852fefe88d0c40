"""The application with all commands of `affinity`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

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
from affinity_bandits.cli.usage import complete_help
from affinity_bandits.cli.warm import warm

PANELS = {
    "Understand": ("show", "app", "paper"),
    "Decide": ("plan", "audit", "serve"),
    "Experiment": ("simulate", "sweep", "policies", "biases", "noises", "warm"),
}


class InPanels(TyperGroup):
    """A group whose help lists its commands by panel."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for name, command in self.commands.items():
            complete_help(command, name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section per panel, all with the same columns."""
        width = max(map(len, self.commands))
        limit = formatter.width - width - 4  # two spaces before a name and two after it
        for panel, names in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl(
                    [
                        (name.ljust(width), self.commands[name].get_short_help_str(limit))
                        for name in names
                    ]
                )


app = typer.Typer(
    name="affinity",
    cls=InPanels,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help texts are no markup: [run] is a table of a file
    help="Sequential choices whose feedback favors what was chosen before.",
    epilog="Begin with 'affinity app' or 'affinity show'.",
)
app.command()(show)
app.command("app")(local_app)
app.add_typer(paper_app, name="paper")
app.command()(plan)
app.command()(audit)
add_serve(app)
app.command()(simulate)
app.add_typer(sweep_app, name="sweep")
app.command()(policies)
app.command()(biases)
app.command()(noises)
app.command()(warm)


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
