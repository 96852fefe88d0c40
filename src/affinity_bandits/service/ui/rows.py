"""Rows of groups, each with a picture and a few words."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

MOST_GROUPS = 12
"""Groups that a picture shows by name."""


@dataclass(frozen=True)
class Row:
    """A group with a picture and a few words."""

    name: str
    picture: Markup
    words: str
    number: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Rows:
    """Rows of a picture, and how many groups it leaves out."""

    rows: list[Row]
    more: int
