"""The runs of the page are those of the library, to the last bit of every score."""

from __future__ import annotations

import json
import shutil
import subprocess
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from affinity_bandits.plots.explorable.page import CHOICES, FILES, LIMITS
from tests.plots.explorable.library import WAYS, World, library_log

SOURCE = "".join(
    FILES.joinpath(name).read_text(encoding="utf-8") for name in ("draws.js", "runs.js")
)


def in_node(expression: str, given: Any) -> Any:
    """Evaluate an expression of the page's scripts, in which `given` is what is given."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = (
        f"{SOURCE}\nconst given = JSON.parse(require('fs').readFileSync(0));\n"
        f"console.log(JSON.stringify({expression}));"
    )
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def some_worlds(number: int) -> list[World]:
    """Return worlds over all that the page offers, with both ends of the seeds."""
    rng = np.random.default_rng(46)
    worlds = []
    for place in range(number):
        groups = int(rng.integers(*LIMITS["groups"], endpoint=True))
        worlds.append(
            World(
                (rng.integers(*LIMITS["values"], size=groups, endpoint=True) / 100).tolist(),
                rng.integers(*LIMITS["members"], size=groups, endpoint=True).tolist(),
                int(rng.integers(*LIMITS["bonus"], endpoint=True)) / 100,
                CHOICES[place % len(CHOICES)],
                int(rng.integers(*LIMITS["seed"], endpoint=True)),
            )
        )
    first, last = LIMITS["seed"]
    return [*worlds, worlds[0]._replace(seed=first), worlds[1]._replace(seed=last)]


@pytest.mark.parametrize("way", WAYS)
def test_a_seed_gives_the_same_choices_and_scores(way: str) -> None:
    worlds = some_worlds(10)
    runs = in_node(
        "given.worlds.map(([values, members, bonus, choices, seed], place) => {"
        "const run = runWay(given.way, {values, members, bonus}, choices, seed, place);"
        "return [[...run.chosen], [...run.scores], run.decided]; })",
        {"way": way, "worlds": worlds},
    )
    for place, (world, (chosen, scores, decided)) in enumerate(zip(worlds, runs, strict=True)):
        log = library_log(way, world, replicate=place)
        np.testing.assert_array_equal(log.arm, chosen, err_msg=str(world))
        np.testing.assert_array_equal(log.score, scores, err_msg=str(world))
        if decided:
            assert (log.arm[decided:] == log.arm[-1]).all()


def test_candidates_are_scored_as_the_library_scores_those_whom_nobody_chose() -> None:
    for world in some_worlds(4):
        log = library_log("ordinary", world._replace(choices=10), unchosen=True)
        assert log.scores is not None
        members = np.array(world.members) + np.cumsum(
            np.eye(len(world.members), dtype=int)[np.concatenate([[0], log.arm[:-1]])], axis=0
        )
        members[:, 0] -= 1  # nobody was chosen before the first round
        scored = in_node(
            "given.members.map((members, t) => "
            "candidates({values: given.values, bonus: given.bonus}, members, t, given.seed))",
            {**world._asdict(), "members": members.tolist()},
        )
        others = np.ones_like(log.scores, dtype=bool)
        others[np.arange(10), log.arm] = False
        np.testing.assert_array_equal(log.scores[others], np.array(scored)[others])


def test_logarithms_are_rounded_correctly() -> None:
    """So they are those of the library wherever its C library rounds correctly.

    That of glibc 2.36 does not at 9170 alone, where it is off by one unit in the last place.
    """
    numbers = range(2, max(CHOICES) + 1)
    with localcontext() as precise:
        precise.prec = 30
        assert in_node("given.map(logOf)", [*numbers]) == [float(Decimal(n).ln()) for n in numbers]
