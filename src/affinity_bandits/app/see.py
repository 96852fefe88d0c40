"""The page See: the loop with sliders, run on every change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from affinity_bandits import AffinityBandit, InGroupBonus
from affinity_bandits.app.rendering import render, show_page
from affinity_bandits.base import checks
from affinity_bandits.base.amounts import parse_number
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.plots.explorable import explorable_page, explorable_policy
from affinity_bandits.plots.loop.courses import course, explain_failure, usual_policies
from affinity_bandits.plots.loop.pages import FILES, page_data

MOST_GROUPS = 4
LONGEST_NAME = 40
MOST_MEMBERS = 500
LARGEST_BONUS = 200  # percent
CHOICES = (1_000, 10_000, 100_000, 300_000)  # with the most, a change takes a quarter of a second
ORDINARY = {"ucb1": "UCB1", "exp3": "EXP3", "thompson-beta": "Thompson sampling"}
SEED = 1
REMEMBERED = 128
router = APIRouter()


@dataclass(frozen=True)
class World:
    """The settings of the page: groups, their true values, the committee and the bias.

    Attributes:
        names: of the groups.
        values: their true means.
        members: initial members of each group.
        bonus: by how many percent judges give their own group more than the others.
        choices: of each policy.
        ordinary: the name of the ordinary policy.
    """

    names: tuple[str, ...] = ("founders", "newcomers")
    values: tuple[float, ...] = (0.6, 0.9)
    members: tuple[int, ...] = (300, 15)
    bonus: float = 200.0
    choices: int = 300_000
    ordinary: str = "ucb1"


def read_world(query: QueryParams) -> World:
    """Return the world of an address; settings that it does not have take their defaults.

    Raises:
        InvalidInput: a setting breaks a rule.
    """
    usual = World()
    names = [" ".join(name.split()) for name in query.getlist("name")]
    values = [_number("value", text, 0.0, 1.0) for text in query.getlist("value")]
    members = [
        round(_number("members", text, 1.0, MOST_MEMBERS)) for text in query.getlist("members")
    ]
    number = max(2, len(names), len(values), len(members))
    if number > MOST_GROUPS:
        raise InvalidInput("groups", f"2 to {MOST_GROUPS} groups", f"{number} groups")
    for name in names:
        if not (1 <= len(name) <= LONGEST_NAME and name.isprintable()):
            raise InvalidInput("name", f"a text of 1 to {LONGEST_NAME} characters", name)
    for place in range(number):
        known = min(place, len(usual.names) - 1)
        if place >= len(names):
            names.append(usual.names[place] if place == known else f"group {place + 1}")
        if place >= len(values):
            values.append(usual.values[known])
        if place >= len(members):
            members.append(usual.members[known])
    return World(
        tuple(names),
        tuple(values),
        tuple(members),
        _number("bonus", query.get("bonus", f"{usual.bonus}"), 0.0, LARGEST_BONUS),
        round(
            _number("choices", query.get("choices", f"{usual.choices}"), CHOICES[0], CHOICES[-1])
        ),
        checks.choice("ordinary", query.get("ordinary", usual.ordinary), tuple(ORDINARY)),
    )


def _number(name: str, text: str, low: float, high: float) -> float:
    return checks.number(name, parse_number(name, text), low=low, high=high)


@lru_cache(REMEMBERED)
def run_world(world: World) -> dict[str, Any]:
    """Run the policies side by side; return the data to draw, and why the ordinary one fails."""
    bandit = AffinityBandit(world.values, InGroupBonus(world.bonus / 100.0), world.members)
    policies = [(ORDINARY[world.ordinary], world.ordinary), *usual_policies(bandit)[1:]]
    courses = [
        course(bandit, policy, world.choices, name=name, seed=SEED) for name, policy in policies
    ]
    why = explain_failure(bandit, courses[0], world.names)
    return {"drawn": page_data(courses, world.names), "why": why}


def warm_up(ordinary: Iterable[str]) -> None:
    """Load the compiled loops; the first time on a machine, this compiles them."""
    for name in ordinary:
        run_world(World(choices=CHOICES[0], ordinary=name))


@router.get("/see")
async def show_see(request: Request) -> Response:
    """Return the page, with the settings of its address."""
    world = read_world(request.query_params)
    groups = list(zip(world.names, world.values, world.members, strict=True))
    return show_page(
        request,
        "see.html",
        world=world,
        groups=groups,
        choices=CHOICES,
        ordinary=ORDINARY,
        most_groups=MOST_GROUPS,
        most_members=MOST_MEMBERS,
        largest_bonus=LARGEST_BONUS,
    )


@router.get("/see/play")
async def send_explorable() -> Response:
    """Return the page on which a visitor is the committee; its one script and style are known."""
    page = explorable_page(header=render("header.html", place="see"), icon="/static/icon.svg")
    policy = f"{explorable_policy()}; img-src 'self'"  # the icon in the header
    return HTMLResponse(page, headers={"content-security-policy": policy})


@router.get("/see/course")
def send_course(request: Request) -> Response:
    """Return the courses of a world as JSON data."""
    return JSONResponse(run_world(read_world(request.query_params)))


@router.get("/static/course.js")
async def send_drawing() -> Response:
    """Return the script that draws courses, which the page of `affinity show` contains."""
    return FileResponse(str(FILES.joinpath("course.js")), media_type="text/javascript")
