"""The verdict of the checker, and what a scenario reports: a column of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_COMPLAINTS = 12  # of a kind that are written out; the rest is only counted
# Acknowledged requests that no event has; requests that several have; events that contradict a
# request or each other, and tables that do not follow from them; requests that got neither an
# answer nor "try again".
FAULTS = {
    "lost": "acknowledged, and lost",
    "doubled": "requests on record twice",
    "wrong": "contradictions",
    "refused": "requests refused",
}
SEEN = {
    "asks": "leases acknowledged",
    "tells": "tells acknowledged",
    "repeats": "acknowledged again, same key",
    "counted": "answers counted",
    "late_counted": "  of them after their lease's end",
    "late": "late answers, recorded only",
    "duplicate": "duplicate answers, recorded only",
    "rounds": "rounds closed",
}


class Verdict(Counter[str]):
    """How often the checker found each of `FAULTS` and `SEEN`, with complaints of the former."""

    def __init__(self) -> None:
        super().__init__()
        self.complaints: dict[str, list[str]] = {}

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not any(self[kind] for kind in FAULTS)

    def complain(self, kind: str, text: str) -> None:
        """Count a fault, with words for it."""
        self[kind] += 1
        complaints = self.complaints.setdefault(kind, [])
        if len(complaints) < MOST_COMPLAINTS:
            complaints.append(text[:400])


DONE = {
    "clients": "clients at once",
    "client_kills": "clients killed",
    "service_kills": "servers killed",
    "service_ends": "servers that ended by themselves",
    "stops": "crashes of PostgreSQL",
    "pauses": "clients paused past their lease",
}


@dataclass
class Row:
    """One column of the table: what was done to a service, and the results.

    Attributes:
        clients: that were at work at once.
        client_kills: clients that were killed, and died of it.
        service_kills: the same of the service's processes.
        service_ends: times that one of those ended without being killed, and was started again.
        stops: times that PostgreSQL was stopped at once and started again.
        pauses: clients that stood still for longer than their leases.
        verdict: what the checker found.
        violations: what went wrong, in words; empty if nothing.
        note: a remark.
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
        """Return the row as JSON-ready data."""
        return vars(self) | {"verdict": dict(self.verdict), "complaints": self.verdict.complaints}


def table(rows: Sequence[Row]) -> str:
    """Return rows as text, one per column, with all violations below."""
    width = max(len(row.name) for row in rows) + 2
    lines: list[tuple[str, list[str]]] = [("", [row.name for row in rows])]
    for name, head in DONE.items():
        lines.append((head, [f"{getattr(row, name):,}" for row in rows]))
    for name, head in (SEEN | FAULTS).items():
        lines.append((head, [f"{row.verdict[name]:,}" for row in rows]))
    lines.append(("seconds", [f"{row.seconds:.0f}" for row in rows]))
    lines.append(("as it should be", ["FAILED" if row.violations else "ok" for row in rows]))
    text = [f"{head:36}" + "".join(f"{cell:>{width}}" for cell in cells) for head, cells in lines]
    for row in rows:
        text += [f"{row.name}: {row.note}"] * bool(row.note)
        text += [f"{row.name}: {violation[:1000]}" for violation in row.violations]
    return "\n".join(text)
