"""One look: colors and fonts stand in one file, and can be told apart from their grounds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from affinity_bandits.base.looks import DARK, LIGHT

ROOT = Path(__file__).parents[2]
SURFACES = [
    path
    for folder in ("src", "packages/service/src", "docs/_static", "docs/_templates", "checks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".css", ".js", ".html", ".svg", ".py")
]
TOKENS = ROOT / "src/affinity_bandits/base/tokens.css"
COLOR = re.compile(
    r"#(?:[0-9a-f]{3}|[0-9a-f]{6})\b|\b(?:rgba?|hsla?|oklch)\("
    r"|(?:color|fill|stroke|background)(?:=\"|: ?)(?:black|white|gr[ae]y|red|green|blue)\b",
    re.IGNORECASE,
)
FONT = re.compile(r"\bfont(?:-family)?: ?([^;]+);")
SIZE = re.compile(r"font(?:-size)?: ?(?:[^;]*? )?([\d.]+)(rem|em|px)")
LEAST = {"rem": 0.75, "em": 0.75, "px": 12.0}

TEXTS = ("ink", "muted", "link", "good", "bad", "open")
TINTS = ("open-tint", "good-tint", "bad-tint", "over-tint")
GRAPHICS = (
    *(f"group-{number}" for number in range(1, 5)),
    *("others", "ordinary", "paper", "ours", "further", "open", "good", "bad"),
)
PAIRS = [
    *((text, ground, 4.5) for text in TEXTS for ground in ("page", "surface", *TINTS)),
    ("surface", "link", 4.5),  # words of a button
    *((drawn, ground, 3.0) for drawn in GRAPHICS for ground in ("page", "surface")),
    *((filled, "track", 3.0) for filled in ("open", "good", "bad")),
]
"""Every color that is put on another, and the least contrast: of text 4.5, of graphics 3 (WCAG)."""


def lightness(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255.0 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((lightness(one), lightness(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize(("front", "ground", "least"), PAIRS)
@pytest.mark.parametrize("screen", [LIGHT, DARK], ids=["light", "dark"])
def test_every_pair_of_colors_has_contrast(
    screen: dict[str, str], front: str, ground: str, least: float
) -> None:
    assert contrast(screen[front], screen[ground]) >= least


def test_every_color_is_in_a_pair() -> None:
    """Lines around cards and empty tracks separate nothing that a reader must tell apart."""
    paired = {name for front, ground, _ in PAIRS for name in (front, ground)}
    assert {name for name in LIGHT if LIGHT[name].startswith("#")} - paired == {"line"}
    assert set(DARK) == set(LIGHT)


@pytest.mark.parametrize(
    "path", [one for one in SURFACES if one != TOKENS], ids=lambda path: path.name
)
def test_no_surface_has_colors_or_fonts_of_its_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    colors = {found[0] for found in COLOR.finditer(text)}
    if path.suffix == ".svg":  # an image knows no variables of its page
        colors -= {*LIGHT.values(), *DARK.values()}
    assert colors == set()
    if path.suffix in (".css", ".html"):
        fonts = [found[1] for found in FONT.finditer(text) if not found[1].endswith(", math")]
        assert all(
            one == "inherit" or one.endswith(("var(--sans)", "var(--mono)")) for one in fonts
        )
        sizes = [(float(found[1]), found[2]) for found in SIZE.finditer(text)]
        assert all(size >= LEAST[unit] for size, unit in sizes)
