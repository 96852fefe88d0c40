"""`affinity show`: the feedback loop as a page to play, or runs as a page, film or picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.cli import options

if TYPE_CHECKING:
    from affinity_bandits.plots.explorable import ExplorableWorld

MEANS, INITIAL_PULLS, GROUPS = "0.4,0.6", "100,10", "founders,newcomers"
BIAS, HORIZON, SEED = "power", "1e6", "1"
ROUNDING = 1e-9
SUFFIXES = (".html", ".gif", ".png", ".svg", ".pdf")
LARGEST_HORIZON = 10_000_000


def show(
    out: Annotated[
        Path,
        typer.Option(help="What to write: .html (a page), .gif (a film), .png, .svg or .pdf."),
    ] = Path("loop.html"),
    means: Annotated[
        str | None, typer.Option(help="True means, never seen by a policy. [0.4,0.6]")
    ] = None,
    bias: Annotated[
        str | None, typer.Option(help="Bias model of runs; see 'affinity biases'. [power]")
    ] = None,
    initial_pulls: Annotated[
        str | None, typer.Option(help="Members of each group on the committee. [100,10]")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="What to call the groups, with commas.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Policy to run, e.g. thompson-beta; may be repeated. [ucb1, elimination,"
            " and head-start-elimination that is told the committee]"
        ),
    ] = None,
    horizon: Annotated[str | None, typer.Option(help="Choices of each run. [1e6]")] = None,
    seed: Annotated[str | None, typer.Option(help="Seed of all randomness. [1]")] = None,
) -> None:
    """See the loop: a page to play, a film or a picture.

    An .html page lets you choose and try remedies, in a world of its own unless you give means,
    members, groups or a seed. With a policy, a bias or a horizon it shows your runs with a slider,
    as films and pictures do.
    """
    options.check_place("out", out, SUFFIXES)
    if out.suffix == ".html" and not (policy or bias or horizon):
        from affinity_bandits.plots.explorable import explorable_page

        world = _world(means, initial_pulls, groups, seed)
        out.write_text(explorable_page(world), encoding="utf-8")
    else:
        runs = {"means": means, "bias": bias, "initial_pulls": initial_pulls, "horizon": horizon}
        _show_runs(out, groups, policy, seed, **runs)
    typer.echo(f"written: {out}")


def _world(
    means: str | None, initial_pulls: str | None, groups: str | None, seed: str | None
) -> ExplorableWorld:
    """Return the world that a page begins with; what is not given is that of the page."""
    from affinity_bandits.plots.explorable import ExplorableWorld

    given: dict[str, Any] = {}
    usual = ExplorableWorld()
    if means is not None:
        given["values"] = [_hundredths(one) for one in options.numbers("means", means)]
    number = len(given.get("values", usual.values))
    if initial_pulls is not None:
        given["members"] = options.numbers("initial-pulls", initial_pulls)
    if len(given.get("members", usual.members)) != number:
        rule = f"{number} numbers, one for each mean"
        if initial_pulls is None:
            rule = (
                f"given with other means, {rule}, e.g. --initial-pulls {','.join(['5'] * number)}"
            )
        raise InvalidInput("initial-pulls", rule, initial_pulls)
    if groups is not None or means is not None:
        given["names"] = _names(groups, number, usual=means is None)
    if seed is not None:
        given["seed"] = registry.read_number("seed", seed)
    return ExplorableWorld(**given)


def _hundredths(mean: float) -> int:
    whole = round(100 * mean)
    if abs(100 * mean - whole) > ROUNDING:
        rule = "hundredths such as 0.45, for a page without --policy, --bias and --horizon"
        raise InvalidInput("means", rule, mean)
    return whole


def _show_runs(
    out: Path,
    groups: str | None,
    policy: list[str] | None,
    seed: str | None,
    *,
    means: str | None,
    bias: str | None,
    initial_pulls: str | None,
    horizon: str | None,
) -> None:
    """Run policies side by side, and write the runs as a page, a film or a picture."""
    from affinity_bandits import AffinityBandit

    if out.suffix != ".html":
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()  # said now, not after the runs
    from affinity_bandits.plots.loop import course, draw_moment, write_film, write_page
    from affinity_bandits.plots.loop.courses import usual_policies

    bandit = AffinityBandit.from_json(
        {
            "true_means": options.numbers("means", means or MEANS),
            "bias": registry.parse_settings("bias", bias or BIAS),
            "initial_pulls": options.numbers("initial-pulls", initial_pulls or INITIAL_PULLS),
        }
    )
    names = _names(groups, bandit.arms, usual=(means or MEANS) == MEANS)
    choices = checks.integer(
        "horizon",
        registry.read_number("horizon", horizon or HORIZON),
        low=100,
        high=LARGEST_HORIZON,
    )
    start = checks.integer("seed", registry.read_number("seed", seed or SEED), low=0, high=2**62)
    courses = []
    chosen: list[tuple[str, Any]] = (
        [(text, registry.parse_settings("policy", text)) for text in policy]
        if policy
        else [*usual_policies(bandit)]
    )
    for name, one in chosen:
        print(f"running {name}", file=sys.stderr, flush=True)
        courses.append(course(bandit, one, choices, name=name, seed=start))
    if out.suffix == ".html":
        write_page(courses, names, out)
    elif out.suffix == ".gif":
        write_film(courses, names, out)
    else:
        from affinity_bandits.plots.style import save_figure

        save_figure(draw_moment(courses, names), out)


def _names(said: str | None, number: int, *, usual: bool) -> list[str]:
    if said is None and not usual:
        return [f"group {place + 1}" for place in range(number)]
    names = [name.strip() for name in (GROUPS if said is None else said).split(",")]
    if len(names) != number or not all(names):
        raise InvalidInput("groups", f"{number} names with commas between them", said)
    return names
