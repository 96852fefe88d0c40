"""`affinity plan`: plan a comparison from flags, a file, an audit or a dialogue."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits.base import checks, declaration, errors, registry
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.cli import options

if TYPE_CHECKING:
    from affinity_bandits.planning import Plan
    from affinity_bandits.planning.situation import Situation


def plan(
    context: typer.Context,
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
    unit: Annotated[
        str | None, typer.Option(help="What one choice is called, such as interview. [choice]")
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
        typer.Option(help="How much higher people rate their own group, 20% or 'no idea'."),
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            help="Who judges: outsiders, neutral (blocks), panels, committee or recused."
            " [all that apply]"
        ),
    ] = None,
    outsiders: Annotated[
        str | None,
        typer.Option(help="Whether people can judge who belong to no group: yes or no."),
    ] = None,
    judges_per_group: Annotated[
        str | None, typer.Option(help="How many judges each group has. [8]")
    ] = None,
    committee: Annotated[
        str | None, typer.Option(help="Members of each group, 30,10,10 or 'do not know'.")
    ] = None,
    initial_lead: Annotated[
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
    begins: Annotated[
        str | None,
        typer.Option(help="When those chosen begin to judge: 'after 3 months', 100. [at once]"),
    ] = None,
    in_flight: Annotated[
        str | None, typer.Option(help="Choices that may be under way at once. [1]")
    ] = None,
    failure: Annotated[
        str | None,
        typer.Option(help="Tolerated probability of choosing the wrong group. [5%]"),
    ] = None,
    steepness: Annotated[
        str | None,
        typer.Option(help="For the cost: scores grow at most in proportion to share^this."),
    ] = None,
    lipschitz: Annotated[
        str | None,
        typer.Option(help="For the cost: largest slope of the bias, 1 at equal shares."),
    ] = None,
    favor_gap: Annotated[
        str | None,
        typer.Option(
            help="By how many points one group's judges may favor their own more than another's:"
            " same, 0.3 or 'no idea'. [no idea]"
        ),
    ] = None,
    strictness: Annotated[
        str | None,
        typer.Option(
            help="Whether all groups' judges are equally strict: same or 'no idea'. [no idea]"
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="gaussian:sigma=1 instead of a scale with two ends."),
    ] = None,
    largest_mean: Annotated[
        str | None,
        typer.Option(help="No group scores more on average, at equal shares. [the highest]"),
    ] = None,
    groups_are: Annotated[
        str | None, typer.Option(help="Declare what the groups are, such as sources.")
    ] = None,
    responsible: Annotated[str | None, typer.Option(help="Declare who is responsible.")] = None,
    purpose: Annotated[str | None, typer.Option(help="Declare for which purpose.")] = None,
    protected: Annotated[
        bool | None,
        typer.Option("--protected", help="Declare the groups as protected attributes: refused."),
    ] = None,
    seed: Annotated[str, typer.Option(help="Seed of all randomness.")] = "0",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the plan to this .toml file: the recommended one, or the one that --judges"
            " names."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the plan to this .png, .svg or .pdf.")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say what is assumed, and which differences are noticed."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Make the plan anew even if it was made before.")
    ] = False,
) -> None:
    """Plan a fair comparison: how long, and how sure.

    It says how many choices that takes, and until when. Without flags and files it asks its
    questions one by one.
    """
    options.check_picture(plot)
    errors.need("study", "scipy")
    options.check_place("out", out, (".toml",))
    chosen = checks.integer("seed", registry.read_number("seed", seed), low=0, high=2**62)
    told, asked, declared, sources = _situation(situation, audit, context.params)
    from affinity_bandits.base.progress import show_progress
    from affinity_bandits.planning.files import remembered_plan, write_plan
    from affinity_bandits.planning.rule import best_first, recommended

    ways = told.ways()
    found: dict[str, Plan] = {}
    try:
        with show_progress(len(ways), after=lambda: _so_far(found)) as bar:

            def advance(part: float) -> None:
                bar.advance_to(len(found) + part)

            for one in best_first(ways):
                one_plan, _ = remembered_plan(one, seed=chosen, progress=advance, again=again)
                found[one.judges] = replace(one_plan, declaration=declared)
                advance(0.0)
            made = [found[one.judges] for one in ways]
            best = recommended(made)
            shown = best or made[-1]  # the whole committee, unless another way was asked for
    except KeyboardInterrupt:
        typer.echo("affinity: interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None

    from affinity_bandits.cli.plan_text import print_answer, print_explanation
    from affinity_bandits.planning.sentences import tell_saved

    print_answer(made, told.today, for_a_year=told.for_a_year, sources=sources)
    if explain:
        print_explanation(shown, made)
    saves = told.judges is not None or best is not None
    if asked and out is None and saves:
        out = _new_file()
    if out is not None and saves:
        write_plan(shown, out)
        why = tell_saved(shown, made)
        if why:
            options.say(options.wrap_text(why))
        trial = f"   (try it on an example: affinity simulate {out})"
        typer.echo(f"saved as {out}{'' if shown.assumptions.judges == 'neutral' else trial}")
    if asked and declared is not None:
        place = "" if out is None else f" --out {shlex.quote(str(out))}"
        typer.echo(f"the same as flags: {_as_flags(told, declared)}{place}")
    if plot is not None:
        from affinity_bandits.plots import draw_plan, draw_ways
        from affinity_bandits.plots.style import save_figure

        save_figure(draw_plan(shown) if len(made) == 1 else draw_ways(made), plot)
        typer.echo(f"picture: {plot}")
    if (asked or out is not None) and not saves:
        typer.echo(
            "affinity: no plan was saved, as none is enough; --judges names one to save it anyway",
            err=True,
        )
        raise typer.Exit(1)


def _so_far(found: Mapping[str, Plan]) -> str:
    """Return the verdict of the best way to judge that is planned, to read while others are."""
    from affinity_bandits.planning.rule import recommended
    from affinity_bandits.planning.sentences import tell_judges, tell_verdict

    plans = list(found.values())
    if not plans:
        return ""
    best = recommended(plans) or plans[0]
    return f"; if {tell_judges([best.assumptions.judges])}: {tell_verdict([best])}"


def _situation(
    file: Path | None, audit: Path | None, flags: Mapping[str, Any]
) -> tuple[Situation, bool, Declaration | None, list[str]]:
    """Return the situation by flags, an audit and a file, or else by a dialogue.

    Also return whether there was a dialogue, the declaration, and what is and is not known from the
    audit.
    """
    from affinity_bandits.planning.from_audit import answers_of_audit, tell_audit, tell_judging
    from affinity_bandits.planning.questions import NAMES
    from affinity_bandits.planning.situation import Situation

    told, sources = Situation(), []
    said = {name: flags[name] for name in NAMES if flags[name] is not None}
    if "noise" in said:
        said["noise"] = registry.parse_settings("noise", said["noise"], places=False)
    declared = {one.name: flags[one.name] for one in fields(Declaration) if flags[one.name]}
    if audit is not None:
        from affinity_bandits.audit.result import read_result

        result = read_result(audit)
        answers = answers_of_audit(result)
        sources = [*tell_audit(answers, said), *tell_judging(result)]
        said = answers | said
    if file is not None:
        tables = {"situation": NAMES, "declaration": tuple(declaration.ASKS)}
        ignored = {*options.PLAN_TABLES, "bandit", "run"} - {"declaration"}
        found = options.read_tables(file, tables, tuple(ignored))
        if "situation" not in found:
            rule = "a file with a table [situation]; a plan is tried with 'affinity simulate'"
            raise InvalidInput(str(file), rule, list(found))
        said = found["situation"] | said
        declared = found.get("declaration", {}) | declared
    asked = not said and file is None and sys.stdin.isatty()
    made = Declaration.from_json(declared) if declared else None
    if asked:
        typer.echo("A plan for a fair comparison. Press Enter to take what stands in brackets.")
    if made is not None:
        made.check_comparison()
    if asked:
        ask(told)
        names = ", ".join(told.assumptions().names or ())
        usual = names if len(names) <= declaration.LONGEST else ""
        made = made or options.ask_declaration(comparison=True, groups_are=usual)
    else:
        told.answer_all(said)
    return told, asked, made, sources


def ask(told: Situation) -> None:
    """Ask all questions, each until its answer is understood."""
    for question in told.questions():
        example = question.example.strip("'")
        options.ask_until(
            question.asks,
            partial(told.answer, question.name),
            usual=question.usual or "",
            example="" if example in question.rule else example,
        )


def _new_file() -> Path:
    names = (f"plan-{number}.toml" if number > 1 else "plan.toml" for number in itertools.count(1))
    return next(path for name in names if not (path := Path(name)).exists())


def _as_flags(told: Situation, declared: Declaration) -> str:
    said = told.said | declared.to_json()
    del said["protected"]  # a plan has no such groups
    flags = [f"--{name.replace('_', '-')} {shlex.quote(str(one))}" for name, one in said.items()]
    return " ".join(["affinity plan", *flags])
