"""Look up the versions of constraints.txt in an advisory database: advisories.py PIP_AUDIT.

Ends with 1 if an advisory is known. Without a database it says so and ends with 0: a release must
be possible offline. An exit code of pip-audit does not tell the two apart. It is 1 for an advisory
as for a broken connection, and 0 with "No known vulnerabilities" where an index that mirrors PyPI
knows the packages of no name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def audited(program: str, constraints: Path) -> list[dict[str, object]]:
    """Return what pip-audit reports of each package; nothing if it could not ask."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        asked = ["--requirement", str(constraints), "--no-deps", "--disable-pip"]
        command = [program, *asked, "--format", "json", "--output", str(report)]
        subprocess.run(command, capture_output=True, check=False)
        try:
            found: list[dict[str, object]] = json.loads(report.read_text())["dependencies"]
        except (OSError, ValueError):
            return []
        return found


def main(program: str, constraints: Path = CONSTRAINTS) -> int:
    """Print the advisories, and what was not looked up."""
    packages = audited(program, constraints)
    missed = [str(one["name"]) for one in packages if "vulns" not in one]
    known = len(packages) - len(missed)
    if known == 0:
        print(f"NOT checked for advisories: no database knows any version of {constraints.name}")
        return 0
    found = 0
    for one in packages:
        for advisory in one.get("vulns", ()):  # type: ignore[attr-defined]
            found += 1
            mended = ", ".join(advisory["fix_versions"]) or "none yet"
            print(f"{one['name']} {one['version']}: {advisory['id']}; mended in: {mended}")
    print(f"advisories: {found}, in {known} versions of {constraints.name}")
    if missed:
        print(f"NOT checked for advisories, because no database knows them: {', '.join(missed)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
