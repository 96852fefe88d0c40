"""Print a constraint to the lowest allowed release of each package that users install."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TOOLS = ("docs", "dev")
"""Extras that nobody who uses the package installs."""


def main() -> None:
    """Read the lower bounds of pyproject.toml."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    users = [line for extra, lines in extras.items() if extra not in TOOLS for line in lines]
    lowest: dict[str, str] = {}
    for line in (*project["dependencies"], *users):
        if line.startswith("affinity-bandits"):
            continue
        # An upper bound may follow the lower one.
        found = re.fullmatch(r"([\w-]+)>=(\d+)(?:\.(\d+))?((?:\.\d+)*)(?:,<[\d.]+)?", line)
        if found is None:
            raise SystemExit(f"pyproject.toml gives no lower bound that can be read: {line}")
        name, major, minor, rest = found.groups()
        lowest[name] = f"{major}.{minor or 0}{rest}.*"
    for name, version in sorted(lowest.items()):
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
