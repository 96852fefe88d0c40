"""The picture of docs/audit/auditing.md: the report of an audit, made by the guide's own command.

make pictures
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.support.browsers import launched
from tests.support.page_words import keep_words

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "audit" / "auditing.md").read_text(encoding="utf-8")
WIDTH, HEIGHT = 720, 1000
BELOW = "Mean scores from own and other judges"
"""The first words of the report that are below the picture."""


def write_report(folder: Path) -> tuple[Path, str]:
    """Run the guide's command in a folder; return the report, and the part that the picture has."""
    (command,) = re.findall(r"^\$ (affinity audit docs/data/.*?audit\.json)$", GUIDE, re.M | re.S)
    (folder / "docs").symlink_to(DOCS.resolve())
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    report = folder / "report.html"
    shown, below, _ = report.read_text(encoding="utf-8").partition(BELOW)
    assert below
    return report, shown


def main() -> None:
    """Take a picture of the upper part of the report, and keep its words."""
    picture = DOCS / "images" / "audit.png"
    with tempfile.TemporaryDirectory() as folder:
        report, shown = write_report(Path(folder))
        with launched() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(report.as_uri())
            page.screenshot(path=picture)
        keep_words(picture, shown)


if __name__ == "__main__":
    main()
