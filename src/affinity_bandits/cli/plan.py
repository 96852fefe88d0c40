"""`affinity plan`: what a fair comparison costs, and how sure its answer will be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits import checks
from affinity_bandits.cli import parsing
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.planning import Assumptions, Plan
    from affinity_bandits.planning.stress import Stress

QUESTIONS = (
    ("groups", "How many groups are compared?", None),
    ("horizon", "How many choices will be made in all?", None),
    ("lowest", "What is the lowest score there can be?", "0"),
    ("highest", "And the highest?", "1"),
    (
        "smallest_difference",
        "From which difference in scores on does it matter, once shares are equal?",
        None,
    ),
    ("head_start", "By how many members may one group outnumber another at the start?", "100"),
    ("steepness", "How steep may the bias be (scores at most in proportion to share^?)", "2"),
    ("in_flight", "How many choices may be under way at once, not scored yet?", "1"),
    ("failure", "Which probability of settling for a worse group is tolerable?", "0.05"),
)
"""What is asked when nothing is given: the assumption, the question, what Enter means."""


def plan(
    groups: Annotated[str | None, typer.Option(help="Groups that are compared.")] = None,
    horizon: Annotated[
        str | None, typer.Option(help="Choices that will be made in all, e.g. 1e6.")
    ] = None,
    smallest_difference: Annotated[
        str | None,
        typer.Option(help="Smallest difference in scores that matters, at equal shares."),
    ] = None,
    head_start: Annotated[
        str | None,
        typer.Option(help="By how many members groups may differ at first. [100]"),
    ] = None,
    steepness: Annotated[
        str | None,
        typer.Option(help="Scores grow at most in proportion to share^steepness. [2]"),
    ] = None,
    lipschitz: Annotated[
        str | None,
        typer.Option(help="Largest slope of the bias, 1 at equal shares, if you know one."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="bounded: scores have two ends; or gaussian:sigma=1. [bounded]"),
    ] = None,
    lowest: Annotated[str | None, typer.Option(help="Lowest score there can be. [0]")] = None,
    highest: Annotated[str | None, typer.Option(help="Highest score there can be. [1]")] = None,
    largest_mean: Annotated[
        str | None,
        typer.Option(help="No group scores more on average, at equal shares. [highest]"),
    ] = None,
    failure: Annotated[
        str | None,
        typer.Option(help="Tolerated probability of settling for a worse group. [0.05]"),
    ] = None,
    in_flight: Annotated[
        str | None, typer.Option(help="Choices that may be under way at once. [1]")
    ] = None,
    seed: Annotated[str, typer.Option(help="Seed of all randomness.")] = "0",
    out: Annotated[Path | None, typer.Option(help="Write the plan to this .toml file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the plan to this .png, .svg or .pdf.")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say what is assumed and what happens if it is wrong."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Make the plan anew even if it was made before.")
    ] = False,
) -> None:
    """Plan a fair comparison: how many trials, at what cost, how sure.

    Asks for what it needs if nothing is given.
    """
    words = parsing.given(
        groups=groups,
        horizon=horizon,
        smallest_difference=smallest_difference,
        head_start=head_start,
        steepness=steepness,
        lipschitz=lipschitz,
        noise=noise,
        lowest=lowest,
        highest=highest,
        largest_mean=largest_mean,
        failure=failure,
        in_flight=in_flight,
    )
    if not words and sys.stdin.isatty():
        words = _asked()
    assumptions = _assumptions(words)
    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        raise InvalidInput("plot", "a file that ends in .png, .svg or .pdf", str(plot))
    if out is not None and out.suffix != ".toml":
        raise InvalidInput("out", "a file that ends in .toml", str(out))
    for name, path in (("out", out), ("plot", plot)):
        if path is not None and not path.parent.is_dir():  # said now, not after the work
            raise InvalidInput(name, "in a directory", str(path))
        if path is not None and path.is_dir():
            raise InvalidInput(name, "a file, not a directory", str(path))
    if plot is not None:
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()  # the same
    chosen = checks.integer("seed", parsing.number("seed", seed), low=0, high=2**62)
    try:
        made = _made(assumptions, chosen, again)
        lines = _stressed(made) if explain else []
    except KeyboardInterrupt:
        typer.echo("affinity: interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None

    from affinity_bandits.cli.plan_text import print_explanation, print_plan

    print_plan(made)
    if explain:
        print_explanation(made, lines)
    if out is not None:
        from affinity_bandits.planning.files import write_plan

        write_plan(made, out)
        typer.echo(f"plan: {out}   (try it on its costliest example: affinity simulate {out})")
    if plot is not None:
        from affinity_bandits.plots import draw_plan
        from affinity_bandits.plots.style import save_figure

        save_figure(draw_plan(made), plot)
        typer.echo(f"picture: {plot}")


def _asked() -> dict[str, str]:
    """Return what the user answers to each question."""
    typer.echo("A plan for a fair comparison. Press Enter to take what stands in brackets.")
    return {
        name: typer.prompt(question, default=usual, type=str) for name, question, usual in QUESTIONS
    }


def _assumptions(words: dict[str, Any]) -> Assumptions:
    from affinity_bandits.planning import Assumptions

    for name in ("groups", "horizon", "smallest_difference"):
        if name not in words:
            flag = "--" + name.replace("_", "-")
            raise InvalidInput(name, f"given, e.g. {flag} {_EXAMPLES[name]}", None)
    settings: dict[str, Any] = {
        name: parsing.number(name, text) for name, text in words.items() if name != "noise"
    }
    if "noise" in words:
        described = parsing.described("noise", words["noise"])
        settings["noise"] = described.pop("name")
        allowed = ("sigma",) if settings["noise"] == "gaussian" else ()
        checks.known_keys(f"parameter of noise {settings['noise']}", described, allowed)
        settings |= described
    return Assumptions.from_json(settings)


_EXAMPLES = {"groups": "3", "horizon": "1e6", "smallest_difference": "0.1"}


def _stressed(plan: Plan) -> list[Stress]:
    from affinity_bandits.planning.stress import stress

    return stress(plan)


def _made(assumptions: Assumptions, seed: int, again: bool) -> Plan:
    from affinity_bandits.planning import make_plan
    from affinity_bandits.planning.files import remembered_plan

    if again:
        return make_plan(assumptions, seed=seed)
    found, _ = remembered_plan(assumptions, seed=seed)
    return found
