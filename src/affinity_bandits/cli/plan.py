"""`affinity plan`: what a fair comparison costs, and how sure its answer will be."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits import checks, extras
from affinity_bandits.cli import parsing
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.planning import Assumptions, Plan
    from affinity_bandits.planning.situation import Situation
    from affinity_bandits.planning.stress import Stress

TABLE = "situation"


def plan(
    situation: Annotated[
        Path | None,
        typer.Argument(help="TOML file with a table [situation]; flags override it."),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--from", help="What 'affinity audit --json' wrote says the rest; flags override it."
        ),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Groups: names with commas, or how many.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="Scores: 1..5, '1 to 5', 0..100 or yes/no.")
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(help="Standard deviation of scores, in points. [a quarter of the scale]"),
    ] = None,
    bonus: Annotated[
        str | None,
        typer.Option(help="How much higher people rate their own kind, 20% or 'no idea'."),
    ] = None,
    judges: Annotated[
        str | None, typer.Option(help="Who judges: committee, panels or strangers. [all three]")
    ] = None,
    committee: Annotated[
        str | None, typer.Option(help="Members of each group, 30,10,10 or 'do not know'.")
    ] = None,
    head_start: Annotated[
        str | None,
        typer.Option(help="By how many members groups may differ, if not known. [100]"),
    ] = None,
    joining: Annotated[
        str | None, typer.Option(help="How many of those chosen join, '1 in 10'. [all]")
    ] = None,
    difference: Annotated[
        str | None, typer.Option(help="Difference in mean scores that matters, at equal shares.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="Choices: 2000, '2,000 a year', '40 a week until 2027-06-30'."),
    ] = None,
    in_flight: Annotated[
        str | None, typer.Option(help="Choices that may be under way at once. [1]")
    ] = None,
    failure: Annotated[
        str | None,
        typer.Option(help="Tolerated probability of settling for a worse group. [5%]"),
    ] = None,
    steepness: Annotated[
        str | None,
        typer.Option(help="For the cost: scores grow at most in proportion to share^this."),
    ] = None,
    lipschitz: Annotated[
        str | None,
        typer.Option(help="For the cost: largest slope of the bias, 1 at equal shares."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="gaussian:sigma=1 instead of a scale with two ends."),
    ] = None,
    largest_mean: Annotated[
        str | None,
        typer.Option(help="No group scores more on average, at equal shares. [the highest]"),
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
    """Plan a fair comparison: how many choices, until when, how sure.

    Asks its questions one by one if nothing is given.
    """
    said = parsing.given(
        groups=groups,
        scale=scale,
        spread=spread,
        bonus=bonus,
        judges=judges,
        committee=committee,
        head_start=head_start,
        joining=joining,
        difference=difference,
        budget=budget,
        in_flight=in_flight,
        failure=failure,
        steepness=steepness,
        lipschitz=lipschitz,
        noise=noise and parsing.described("noise", noise, places=False),
        largest_mean=largest_mean,
    )
    if audit is not None:
        from affinity_bandits.cli.from_audit import said_by

        said = said_by(audit) | said
    _check_places(out, plot)
    chosen = checks.integer("seed", parsing.number("seed", seed), low=0, high=2**62)
    told = _situation(situation, said)
    given = told.assumptions()
    try:
        made = [_made(one, chosen, again) for one in _settings(given, told.judges)]
        shown = made[-1]  # the whole committee, unless another one was asked for
        lines = _stressed(shown) if explain else []
    except KeyboardInterrupt:
        typer.echo("affinity: interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None

    from affinity_bandits.cli.plan_text import print_answer

    print_answer(made, told.today, for_a_year=told.for_a_year)
    if explain:
        from affinity_bandits.cli.plan_details import print_explanation

        print_explanation(shown, lines)
    if out is not None:
        from affinity_bandits.planning.files import write_plan

        write_plan(shown, out)
        typer.echo(f"plan: {out}   (try it on its costliest example: affinity simulate {out})")
    if plot is not None:
        from affinity_bandits.plots import draw_plan, draw_ways
        from affinity_bandits.plots.style import save_figure

        save_figure(draw_plan(shown) if len(made) == 1 else draw_ways(made), plot)
        typer.echo(f"picture: {plot}")


def _check_places(out: Path | None, plot: Path | None) -> None:
    """Refuse places that cannot be written to: now, not after the work."""
    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        raise InvalidInput("plot", "a file that ends in .png, .svg or .pdf", str(plot))
    if out is not None and out.suffix != ".toml":
        raise InvalidInput("out", "a file that ends in .toml", str(out))
    for name, path in (("out", out), ("plot", plot)):
        if path is not None and not path.parent.is_dir():
            raise InvalidInput(name, "in a directory", str(path))
        if path is not None and path.is_dir():
            raise InvalidInput(name, "a file, not a directory", str(path))
    if plot is not None:
        extras.need("simulation")  # which a plan needs before anybody draws it
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()


def _situation(file: Path | None, said: dict[str, Any]) -> Situation:
    """Return what flags and a file say, or what is answered if they say nothing."""
    from affinity_bandits.planning.situation import NAMES, Situation

    told = Situation()
    if file is not None:
        said = _read(file, NAMES) | said
    if not said and file is None and sys.stdin.isatty():
        from affinity_bandits.cli.plan_dialogue import ask

        ask(told)
        return told
    told.answer_all(said)
    return told


def _read(file: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the table [situation] of a file."""
    from affinity_bandits.planning.files import TABLES, refuse_old

    refuse_old(file)
    found = parsing.read_toml(file, {TABLE: names}, (*TABLES, "bandit", "run"))
    if TABLE not in found:
        rule = "a file with a table [situation]; a plan is tried with 'affinity simulate'"
        raise InvalidInput(str(file), rule, list(found))
    return found[TABLE]


def _settings(given: Assumptions, judges: str | None) -> list[Assumptions]:
    """Return the assumptions for each way to judge that is to be shown."""
    from affinity_bandits.planning.assumptions import JUDGES

    if judges is not None:
        return [given]
    # Without any bound on the bias, strangers might see nothing.
    ways = [one for one in JUDGES if one != "strangers" or given.bonus is not None]
    return [replace(given, judges=one) for one in ways]


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
