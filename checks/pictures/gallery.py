"""Draw the pictures of the gallery by the lines that it prints.

Run by `make pictures`, from the repository's root.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.docs.pages import read_page
from tests.docs.reader import follow

DOCS = Path(__file__).parents[2] / "docs"

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        follow(read_page(DOCS / "start" / "gallery.md"), Path(folder))
        for picture in sorted((Path(folder) / "here").glob("*.png")):
            print(shutil.copy(picture, DOCS / "images" / "gallery" / picture.name))
