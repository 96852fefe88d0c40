"""The picture of docs/auditing.md: the page of an audit, made by what the guide prints.

PATH=$PWD/.venv/bin:$PATH PYTHONPATH=. .venv/bin/python docs/audit_picture.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.browsers import launched

DOCS = Path(__file__).parent
GUIDE = (DOCS / "auditing.md").read_text(encoding="utf-8")
WIDTH, HEIGHT = 720, 1500


def main() -> None:
    """Make the log, audit it, and take a picture of the upper part of the page."""
    code = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)[:2]
    (command,) = re.findall(r"^\$ (affinity audit panels.csv .*?audit.json)$", GUIDE, re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", "\n".join(code)], cwd=folder, check=True)
        subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with launched() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto((Path(folder) / "report.html").as_uri())
            page.screenshot(path=DOCS / "images" / "audit.png")


if __name__ == "__main__":
    main()
