"""The example that the page See shows during compilation: `python -m tests.app.example`."""

from __future__ import annotations

import json
from pathlib import Path

from affinity_bandits.app.rendering import STATIC
from affinity_bandits.app.see import World, run_world

FILE = Path(str(STATIC.joinpath("example.json")))


def text() -> str:
    return json.dumps(run_world(World()), separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
