"""What the page See shows while loops are compiled; `python -m tests.app.example` writes it."""

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
