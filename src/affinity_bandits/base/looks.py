"""The look that all surfaces share: the tokens of tokens.css, the rules of pages.css, the icon."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

_here = files("affinity_bandits.base")
ICON = _here.joinpath("icon.svg")
TOKENS = _here.joinpath("tokens.css").read_text(encoding="utf-8")
"""Colors and fonts as CSS variables, for light and for dark screens."""
_RULES = _here.joinpath("pages.css").read_text(encoding="utf-8")


def _read_tokens(rules: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): ([^;]+);", rules))


_light, _dark = TOKENS.split("@media (prefers-color-scheme: dark)")
LIGHT = _read_tokens(_light)
"""The value of each token on a light screen and on paper."""
DARK = {**LIGHT, **_read_tokens(_dark)}
"""The value of each token on a dark screen."""


def read_style(*own: Traversable) -> str:
    """Return the style sheet of some pages: tokens, shared rules, and their own rules."""
    return TOKENS + _RULES + "".join(rules.read_text(encoding="utf-8") for rules in own)
