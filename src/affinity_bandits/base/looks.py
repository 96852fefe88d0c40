"""The icon and the style sheet that the pages of the service and of the application share."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

ICON = files("affinity_bandits.base").joinpath("icon.svg")
_SHARED = files("affinity_bandits.base").joinpath("pages.css")


def read_style(own: Traversable) -> str:
    """Return the shared style sheet, followed by the rules of some pages."""
    return _SHARED.read_text(encoding="utf-8") + own.read_text(encoding="utf-8")
