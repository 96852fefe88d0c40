"""`affinity show`: the feedback loop as a page with a slider, a film or a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.cli import options

MEANS, INITIAL_PULLS, GROUPS = "0.4,0.6", "100,10", "founders,newcomers"
SUFFIXES = (".html", ".gif", ".png", ".svg", ".pdf")
LARGEST_HORIZON = 10_000_000


def show(
    out: Annotated[
        Path,
        typer.Option(help="What to write: .html (a slider), .gif (a film), .png, .svg or .pdf."),
    ] = Path("loop.html"),
    means: Annotated[str, typer.Option(help="True means, never seen by a policy.")] = MEANS,
    bias: Annotated[str, typer.Option(help="Bias model; see 'affinity biases'.")] = "power",
    initial_pulls: Annotated[
        str, typer.Option(help="Members of each group on the committee.")
    ] = INITIAL_PULLS,
    groups: Annotated[
        str | None, typer.Option(help="What to call the groups, with commas.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Policy, e.g. thompson-beta; may be repeated. [ucb1, elimination,"
            " and head-start-elimination that is told the committee]"
        ),
    ] = None,
    horizon: Annotated[str, typer.Option(help="Choices of each policy.")] = "1e6",
    seed: Annotated[str, typer.Option(help="Seed of all randomness.")] = "1",
) -> None:
    """Show the feedback loop: one run of each policy, side by side, from the first choice on."""
    options.check_place("out", out, SUFFIXES)
    from affinity_bandits import AffinityBandit

    if out.suffix != ".html":
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()  # said now, not after the runs
    from affinity_bandits.plots.loop import course, draw_moment, write_film, write_page
    from affinity_bandits.plots.loop.courses import usual_policies

    bandit = AffinityBandit.from_json(
        {
            "true_means": options.numbers("means", means),
            "bias": registry.parse_settings("bias", bias),
            "initial_pulls": options.numbers("initial-pulls", initial_pulls),
        }
    )
    names = _names(groups, bandit.arms, usual=means == MEANS)
    choices = checks.integer(
        "horizon", registry.read_number("horizon", horizon), low=100, high=LARGEST_HORIZON
    )
    start = checks.integer("seed", registry.read_number("seed", seed), low=0, high=2**62)
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
    typer.echo(f"written: {out}")


def _names(said: str | None, number: int, *, usual: bool) -> list[str]:
    if said is None and not usual:
        return [f"group {place + 1}" for place in range(number)]
    names = [name.strip() for name in (GROUPS if said is None else said).split(",")]
    if len(names) != number or not all(names):
        raise InvalidInput("groups", f"{number} names with commas between them", said)
    return names
