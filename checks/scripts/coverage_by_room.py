"""Print how many lines of each room the tests ran.

Reads .coverage, as `coverage combine` leaves it. A room with less than FLOOR is an error: it has
lost its tests. More than that is no aim; `coverage report -m` says which lines are missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import PurePath

from coverage import Coverage

FLOOR = 0.3
PACKAGES = ("affinity_bandits", "affinity_bandits_client", "affinity_bandits_service")


def room_of(file: str) -> str:
    """Return the package and the directory of a file, if it is in one."""
    *folders, _ = PurePath(file).parts
    start = max(at for at, folder in enumerate(folders) if folder in PACKAGES)
    return "/".join(folders[start : start + 2])


def main() -> None:
    """Print the table."""
    measured = Coverage()
    measured.load()
    lines: dict[str, int] = defaultdict(int)
    missed: dict[str, int] = defaultdict(int)
    for file in measured.get_data().measured_files():
        _, counted, _, missing, _ = measured.analysis2(file)
        for row in (room_of(file), "total"):
            lines[row] += len(counted)
            missed[row] += len(missing)
    print(f"{'room':20} {'lines':>7} {'missed':>7} {'run':>7}")
    for room in (*sorted(set(lines) - {"total"}), "total"):
        share = 1.0 - missed[room] / max(1, lines[room])
        print(f"{room:20} {lines[room]:7,} {missed[room]:7,} {share:7.1%}")
        if share < FLOOR:
            sys.exit(f"{room}: fewer than {FLOOR:.0%} of its lines are run by any test")


if __name__ == "__main__":
    main()
