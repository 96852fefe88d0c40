"""The page as one HTML file, and the world that it begins with."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.looks import read_style

FILES = files("affinity_bandits.plots.explorable")
SCRIPTS = ("draws.js", "runs.js", "page.js")
LIMITS = {
    "groups": (2, 4),
    "values": (1, 99),
    "members": (1, 30),
    "bonus": (0, 300),
    "seed": (0, 2**31 - 1),
    "name": (1, 40),
}
"""The smallest and the largest of what a visitor can set; the page reads them here."""
CHOICES = (300, 1_000, 3_000, 10_000)


@dataclass(frozen=True)
class ExplorableWorld:
    """The world that the page begins with.

    Attributes:
        names: of the groups, two to four.
        values: their true means in hundredths.
        members: initial members of each group.
        bonus: by how many percent members score their own group higher.
        choices: of a run.
        seed: of all randomness.
    """

    names: Sequence[str] = ("founders", "newcomers")
    values: Sequence[int] = (60, 70)
    members: Sequence[int] = (11, 1)
    bonus: int = 100
    choices: int = 1_000
    seed: int = 6

    def __post_init__(self) -> None:
        fewest, most = LIMITS["groups"]
        groups = len(self.values)
        if not fewest <= groups <= most:
            raise InvalidInput("values", f"{fewest} to {most} numbers, one for each group", groups)
        for name, entries in (("names", self.names), ("members", self.members)):
            if len(entries) != groups:
                raise InvalidInput(name, f"one entry for each of the {groups} groups", entries)
        shortest, longest = LIMITS["name"]
        for one in self.names:
            if not shortest <= len(one.strip()) <= len(one) <= longest:
                raise InvalidInput("names", f"texts of 1 to {longest} characters", one)
        for name in ("values", "members"):
            low, high = LIMITS[name]
            for one in getattr(self, name):
                checks.integer(name, one, low=low, high=high)
        for name in ("bonus", "seed"):
            low, high = LIMITS[name]
            checks.integer(name, getattr(self, name), low=low, high=high)
        if self.choices not in CHOICES:
            raise InvalidInput("choices", f"one of {', '.join(map(str, CHOICES))}", self.choices)


def explorable_page(
    world: ExplorableWorld | None = None, *, header: str = "", icon: str = ""
) -> str:
    """Return the page as HTML, about 60 kB; it needs no other file.

    Args:
        world: to begin with; by default one in which an ordinary method closes the committee.
        header: HTML to stand above the page, of the application that sends it.
        icon: address of that application's icon. A page that a visitor saves has neither.
    """
    data = {"world": asdict(world or ExplorableWorld()), "limits": LIMITS, "choices": CHOICES}
    return (
        FILES.joinpath("page.html")
        .read_text(encoding="utf-8")
        .replace("{{style}}", _style())
        .replace("{{script}}", _script())
        .replace("{{header}}", header)
        .replace("{{icon}}", icon and f'<link rel="icon" type="image/svg+xml" href="{icon}">\n')
        # No name may end the script that it stands in.
        .replace("{{data}}", json.dumps(data).replace("<", "\\u003c"))
    )


def explorable_policy() -> str:
    """Return a content security policy under which the page runs, and no other script or style."""
    return (
        f"default-src 'none'; script-src {_hash(_script())}; style-src {_hash(_style())};"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _style() -> str:
    return read_style(FILES.joinpath("page.css"))


def _script() -> str:
    return "".join(FILES.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
