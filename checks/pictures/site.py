"""Write the tokens of all surfaces as the site's theme takes them: docs/_static/tokens.css.

The theme lets readers choose light or dark by an attribute of the body, besides the screen.
"""

from __future__ import annotations

from pathlib import Path

from affinity_bandits.base.looks import DARK, LIGHT

FILE = Path(__file__).parents[2] / "docs" / "_static" / "tokens.css"


def site_tokens() -> str:
    """Return the file's text."""
    dark = {name: value for name, value in DARK.items() if value != LIGHT[name]}
    return "\n".join(
        (
            "/* Made by `python -m checks.pictures.site` from base/tokens.css. */",
            _rule("body", LIGHT),
            "@media not print {",
            _rule('body[data-theme="dark"]', dark),
            "@media (prefers-color-scheme: dark) {",
            _rule('body:not([data-theme="light"])', dark),
            "}",
            "}",
            "",
        )
    )


def _rule(selector: str, tokens: dict[str, str]) -> str:
    lines = "".join(f"  --{name}: {value};\n" for name, value in tokens.items())
    return f"{selector} {{\n{lines}}}"


if __name__ == "__main__":
    FILE.write_text(site_tokens(), encoding="utf-8")
