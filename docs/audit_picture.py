"""The picture of docs/auditing.md: the report of an audit, made by the guide's own command.

PATH=$PWD/.venv/bin:$PATH PYTHONPATH=. .venv/bin/python docs/audit_picture.py
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.support.browsers import launched

DOCS = Path(__file__).parent
GUIDE = (DOCS / "auditing.md").read_text(encoding="utf-8")
WIDTH, HEIGHT = 720, 1000


def main() -> None:
    """Run the command and take a picture of the upper part of the report."""
    (command,) = re.findall(r"^\$ (affinity audit docs/data/.*?audit\.json)$", GUIDE, re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").symlink_to(DOCS.resolve())
        subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with launched() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto((Path(folder) / "report.html").as_uri())
            page.screenshot(path=DOCS / "images" / "audit.png")


if __name__ == "__main__":
    main()
