"""Draw the pictures of plans in the guide and in the stories, by the commands that they print.

Run by `make pictures`, from the repository's root.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.docs.pages import Block, commands, read_page

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images"


def draw(page: Path, images: Path) -> None:
    """Run the page's commands that draw a plan, with the files that it says to save."""
    with tempfile.TemporaryDirectory() as folder:
        for block in read_page(page).blocks:
            if block.save_as is not None:
                (Path(folder) / block.save_as).write_text(block.text, encoding="utf-8")
            for command in _drawing(block):
                subprocess.run(command, shell=True, check=True, cwd=folder, stdout=subprocess.PIPE)
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, images / picture.name)
            print(images / picture.name)


def _drawing(block: Block) -> list[str]:
    if block.kind != "console" or not block.runs:
        return []
    return [
        one.text for one in commands(block) if "affinity plan" in one.text and ".png" in one.text
    ]


if __name__ == "__main__":
    (IMAGES / "stories").mkdir(exist_ok=True)
    draw(DOCS / "plan" / "planning.md", IMAGES)
    for story in sorted((DOCS / "plan" / "stories").glob("*.md")):
        draw(story, IMAGES / "stories")
