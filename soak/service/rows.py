"""What a scenario reports: a column of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from soak.service.verdict import Verdict


@dataclass
class Row:
    """One column of the table: what was done to a service, and what came of it.

    Attributes:
        clients: that were at work at once.
        client_kills: clients that were killed, and died of it.
        service_kills: the same of the service's processes.
        service_ends: times that one of those ended without being killed, and was started again.
        stops: times that PostgreSQL was stopped at once and started again.
        pauses: clients that stood still for longer than their leases.
        verdict: what the checker found.
        violations: what went wrong, in words; empty if nothing.
        note: what else there is to say.
        seconds: how long it took.
    """

    name: str
    clients: int = 0
    client_kills: int = 0
    service_kills: int = 0
    service_ends: int = 0
    stops: int = 0
    pauses: int = 0
    verdict: Verdict = field(default_factory=Verdict)
    violations: list[str] = field(default_factory=list)
    note: str = ""
    seconds: float = 0.0

    def expect(self, holds: bool, otherwise: str) -> None:
        """Record a violation unless the condition holds."""
        if not holds:
            self.violations.append(otherwise)

    def to_json(self) -> dict[str, Any]:
        """Return the line as JSON-ready data."""
        return asdict(self)


DONE = {
    "clients": "clients at once",
    "client_kills": "clients killed",
    "service_kills": "servers killed",
    "service_ends": "servers that ended by themselves",
    "stops": "crashes of PostgreSQL",
    "pauses": "clients paused past their lease",
}
SEEN = {
    "asks": "leases acknowledged",
    "tells": "tells acknowledged",
    "repeats": "acknowledged again, same key",
    "counted": "answers counted",
    "late_counted": "  of them after their lease's end",
    "late": "late answers, recorded only",
    "duplicate": "duplicate answers, recorded only",
    "slept_over": "pauses with answers after the lease",
    "rounds": "rounds closed",
    "disturbed_rounds": "  of them while there were faults",
    "lost": "acknowledged, and lost",
    "doubled": "doubles",
    "gaps": "gaps",
    "wrong": "wrong contents",
    "refused": "requests refused",
}


def table(rows: Sequence[Row]) -> str:
    """Return rows as text, one per column, with all violations below."""
    width = max(len(row.name) for row in rows) + 2
    lines = [f"{'':36}" + "".join(f"{row.name:>{width}}" for row in rows)]
    for name, head in DONE.items():
        counts = [getattr(row, name) for row in rows]
        lines.append(f"{head:36}" + "".join(f"{count:>{width},}" for count in counts))
    for name, head in SEEN.items():
        counts = [getattr(row.verdict, name) for row in rows]
        lines.append(f"{head:36}" + "".join(f"{count:>{width},}" for count in counts))
    lines.append(f"{'seconds':36}" + "".join(f"{row.seconds:>{width}.0f}" for row in rows))
    verdicts = ["FAILED" if row.violations else "ok" for row in rows]
    lines.append(f"{'as it should be':36}" + "".join(f"{one:>{width}}" for one in verdicts))
    for row in rows:
        lines += [f"{row.name}: {row.note}"] * bool(row.note)
        lines += [f"{row.name}: {violation[:1000]}" for violation in row.violations]
    return "\n".join(lines)
