"""`affinity show`: the feedback loop as a page with a slider, a film or a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits import checks
from affinity_bandits.cli import parsing
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.bandit import AffinityBandit

MEANS, INITIAL_PULLS, GROUPS = "0.4,0.6", "100,10", "founders,newcomers"
SUFFIXES = (".html", ".gif", ".png", ".svg", ".pdf")
LARGEST_HORIZON = 10_000_000
FRAMES_A_LINE = 10


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
            help="Policy, e.g. thompson-beta; may be repeated. [ucb1, elimination and the handicap]"
        ),
    ] = None,
    horizon: Annotated[str, typer.Option(help="Choices of each policy.")] = "1e6",
    seed: Annotated[str, typer.Option(help="Seed of all randomness.")] = "1",
) -> None:
    """Show the feedback loop: one run of each policy, side by side, from the first choice on."""
    if out.suffix not in SUFFIXES:
        raise InvalidInput("out", f"a file that ends in {', '.join(SUFFIXES)}", str(out))
    if not out.parent.is_dir():
        raise InvalidInput("out", "in a directory", str(out))
    from affinity_bandits import AffinityBandit, extras

    extras.need("simulation")
    if out.suffix != ".html":
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()  # said now, not after the runs
    from affinity_bandits.show import course, draw_moment, write_film, write_page

    bandit = AffinityBandit.from_json(
        {
            "true_means": parsing.numbers("means", means),
            "bias": parsing.described("bias", bias),
            "initial_pulls": parsing.numbers("initial-pulls", initial_pulls),
        }
    )
    names = _names(groups, bandit.arms, usual=means == MEANS)
    choices = checks.integer(
        "horizon", parsing.number("horizon", horizon), low=100, high=LARGEST_HORIZON
    )
    start = checks.integer("seed", parsing.number("seed", seed), low=0, high=2**62)
    courses = []
    for name, one in _policies(policy, bandit):
        _say(f"running {name}")
        courses.append(course(bandit, one, choices, name=name, seed=start))
    if out.suffix == ".html":
        write_page(courses, names, out)
    elif out.suffix == ".gif":
        write_film(courses, names, out, tell=_say_frames)
    else:
        from affinity_bandits.plots.style import save_figure

        save_figure(draw_moment(courses, names), out)
    typer.echo(f"written: {out}")


def _names(said: str | None, number: int, *, usual: bool) -> list[str]:
    if said is None:
        if usual:
            return GROUPS.split(",")
        return [f"group {place + 1}" for place in range(number)]
    names = [name.strip() for name in said.split(",")]
    if len(names) != number or not all(names):
        raise InvalidInput("groups", f"{number} names with commas between them", said)
    return names


def _policies(said: list[str] | None, bandit: AffinityBandit) -> list[tuple[str, Any]]:
    """Return policies with the names to show; the handicap is told the initial committee."""
    if said:
        return [(text, parsing.described("policy", text)) for text in said]
    handicap = {
        "name": "handicap-elimination",
        "initial_pulls": [int(pulls) for pulls in bandit.initial_pulls or ()],
        "bounded": True,
        "levels": 2,
    }
    return [("UCB1", "ucb1"), ("Algorithm 1", "elimination"), ("handicap", handicap)]


def _say_frames(done: int, of: int) -> None:
    if done % FRAMES_A_LINE == 0:
        _say(f"drawn: {done} of {of} frames")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
