"""All that an audit found, in the users' units: what the report, the table and the JSON are of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from affinity_bandits import checks
from affinity_bandits._version import __version__
from affinity_bandits.errors import InvalidInput

FORMAT = "affinity audit"
VERSION = 1

Word = Literal["shown", "indicated", "not seen", "cannot tell"]
Range = tuple[float, float]


@dataclass(frozen=True)
class GroupLine:
    """A group of the log.

    Attributes:
        name: as it is in the log.
        initial: its members before the first row.
        members: its members after the last row.
        rows: how often it was scored.
        mean: of its scores, in points.
        cells: share among those who judged, mean score in points, number of rows: for the picture.
    """

    name: str
    initial: int
    members: int
    rows: int
    mean: float | None
    cells: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class Assumed:
    """What is shown under one assumption.

    Attributes:
        assumption: its name.
        words: the assumption, for people.
        odds: the evidence, as so many to 1 against "scores do not depend on the share".
        shown: whether that is enough.
    """

    assumption: str
    words: str
    odds: float
    shown: bool


@dataclass(frozen=True)
class Seen:
    """How probably a bonus would have been shown by a log like this one.

    Attributes:
        bonus: 0.2 is 20%; infinity is f(x) = x, strangers get the lowest score.
        probability: of "shown".
        interval: of that probability, as it was found by drawing logs.
        times: how many times the rows it would take for a probability of 0.8; None if more than
            64, infinite if no number of rows with shares like these would do.
    """

    bonus: float
    probability: float
    interval: Range
    times: float | None


@dataclass(frozen=True)
class Compared:
    """Two groups, with the bias taken into account.

    Attributes:
        group: the name of one.
        than: the name of the other.
        plain: the ratio of their mean scores as they are in the log.
        ratio: of their true values, if the bias is a bonus: the least and the largest that the log
            leaves possible; None if that is everything.
        at_least: the ratio of their true values is at least this, whatever the bias (one that does
            not fall with the share); None if nothing is shown.
    """

    group: str
    than: str
    plain: float | None
    ratio: Range | None
    at_least: float | None


@dataclass(frozen=True)
class OneGroupDrift:
    """By how much one group's level alone must have changed to explain what is shown.

    Attributes:
        group: its name.
        fall: the part of it that must have been lost from the first row to the last; None if none
            would do.
        rise: the part of it that must have been gained.
    """

    group: str
    fall: float | None
    rise: float | None


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes:
        source: where the log came from.
        rows: how many decisions it has.
        scale: as it was said, "1..5" or "yes/no".
        lowest: of the scale.
        highest: of the scale.
        groups: in the order of the initial committee.
        panels: "random", "recorded", or None if it is not known who judged.
        word: the verdict.
        sentence: the verdict in words.
        because: what else has to be said of it.
        record: what to write down from now on.
        assumed: what is shown under each assumption.
        indicated: the odds of the test that may only indicate.
        bonus: the least and the largest bonus that the log leaves possible; None if it speaks
            against every one.
        likely_bonus: the one that fits best.
        exponent: the same for f(x) = x^exponent.
        likely_exponent: the one that fits best.
        power: what would have been seen.
        compared: pairs of groups.
        explained: what one group's own drift would have to be.
        placebos: odds that must not be large: the name of the check, and the odds.
        spread: standard deviation of scores of one group at one share, in points.
        joining: the part of those scored who joined the committee.
        shares: for the picture: rows, and for each of them the share of every group.
        committees: how many initial committees were tried, if it was not known exactly.
        notes: what the reader of the file noticed.
    """

    source: str
    rows: int
    scale: str
    lowest: float
    highest: float
    groups: tuple[GroupLine, ...]
    panels: str | None
    word: Word
    sentence: str
    because: tuple[str, ...]
    record: tuple[str, ...]
    assumed: tuple[Assumed, ...]
    indicated: float
    bonus: Range | None
    likely_bonus: float | None
    exponent: Range | None
    likely_exponent: float | None
    power: tuple[Seen, ...]
    compared: tuple[Compared, ...]
    explained: tuple[OneGroupDrift, ...]
    placebos: tuple[tuple[str, float], ...]
    spread: float
    joining: float
    shares: tuple[tuple[int, tuple[float, ...]], ...]
    committees: int = 1
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The length of the scale."""
        return self.highest - self.lowest


def as_json(audit: Audit) -> str:
    """Return everything as JSON; what is infinite is the text "infinite"."""
    head = {"format": FORMAT, "format_version": VERSION, "package_version": __version__}
    return json.dumps(head | _plain(asdict(audit)), indent=1, allow_nan=False)


def read_audit(path: Path) -> Mapping[str, Any]:
    """Return what `affinity audit --json` wrote, with infinities as such.

    Raises:
        InvalidInput: the file is something else.
    """
    rule = "a file that 'affinity audit --json' wrote"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput("from", "a file that is there", str(path)) from None
    except (ValueError, OSError):
        raise InvalidInput("from", rule, str(path)) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidInput("from", rule, str(path))
    if found.get("format_version") != VERSION:
        words = f"an audit of format {VERSION}; make it again with 'affinity audit'"
        raise InvalidInput("from", words, found.get("format_version"))
    needed = ("groups", "scale", "spread", "bonus", "joining")
    checks.known_keys("key of an audit", needed, tuple(found))
    return {name: _number(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """Return a value that JSON has."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and math.isinf(value):
        return "infinite"
    return value


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(one) for one in value]
    return math.inf if value == "infinite" else value
