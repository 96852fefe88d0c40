"""What a scenario reports: a line of the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from soak.checker import Verdict


@dataclass
class Row:
    """One line of the table: what was done to sweeps, and what came of it.

    Attributes:
        name: of the scenario.
        kills: processes that were killed, and died of it.
        restarts: drivers started after one that was killed or failed.
        faults: files damaged, write calls that failed, disks filled.
        shards: files in all stores, in the end.
        lost: replicates that were not there in the end.
        duplicated: replicates that a store handed out twice.
        as_good: times that damage was read as if it were good.
        violations: what went wrong, in words; empty if nothing.
        note: what else there is to say.
        seconds: how long it took.
    """

    name: str
    kills: int = 0
    restarts: int = 0
    faults: int = 0
    shards: int = 0
    lost: int = 0
    duplicated: int = 0
    as_good: int = 0
    violations: list[str] = field(default_factory=list)
    note: str = ""
    seconds: float = 0.0

    def add(self, verdict: Verdict) -> None:
        """Add the verdict on a store that must be complete."""
        self.shards += verdict.shards
        self.lost += verdict.lost
        self.duplicated += verdict.duplicated
        self.as_good += verdict.as_good
        if not verdict.good:
            self.violations.append(f"not as an undisturbed run: {verdict}")

    def expect(self, holds: bool, otherwise: str) -> None:
        """Record a violation unless the condition holds."""
        if not holds:
            self.violations.append(otherwise)

    def to_json(self) -> dict[str, Any]:
        """Return the line as JSON-ready data."""
        return asdict(self)


COLUMNS = ("kills", "restarts", "faults", "shards", "lost", "duplicated", "as_good")


def table(rows: Iterable[Row]) -> str:
    """Return lines as text."""
    heads = ("kills", "restarts", "faults", "shards", "lost", "duplicated", "read as good")
    lines = [f"{'':38}" + "".join(f"{head:>13}" for head in heads) + f"{'seconds':>9}  verdict"]
    for row in rows:
        counts = "".join(f"{getattr(row, column):>13,}" for column in COLUMNS)
        verdict = "FAILED" if row.violations else "ok"
        note = f"; {row.note}" if row.note else ""
        lines.append(f"{row.name:38}{counts}{row.seconds:>9.1f}  {verdict}{note}")
        lines += [f"    {violation[:1000]}" for violation in row.violations]
    return "\n".join(lines)
