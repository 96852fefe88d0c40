"""Whatever is killed, crashed or paused, what was acknowledged is on record, once.

The slow ones are the short form of `make soak-service`: a PostgreSQL of their own, real servers
and clients. The quick ones show the checker's model what it must not let pass.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from soak.service.__main__ import sound
from soak.service.cases import Case, undisturbed
from soak.service.checker import compare_requests
from soak.service.controls import SHORT_NAMES, run_control
from soak.service.journal import Journal, Request, requests_in
from soak.service.model import Model
from soak.service.verdict import Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)
CASE = Case("small", "successive-rejects", 3, 30)
LEASE_SECONDS = 2.0


class Trail:
    """Events of a campaign as the service would write them, played to the model."""

    def __init__(self, case: Case = CASE) -> None:
        self.case = case
        self.rounds = list(undisturbed(case))
        self.verdict = Verdict()
        self.events: list[dict[str, Any]] = []
        self.model = Model(case, LEASE_SECONDS, START, self.verdict)
        self.add("create", 0.0)

    def add(self, kind: str, at: float, **columns: Any) -> None:
        event = {
            "number": len(self.events) + 1,
            "at": START + timedelta(seconds=at),
            "kind": kind,
            "key": f"key-{len(self.events)}",
            "round": self.model.number,
            **columns,
        }
        self.events.append(event)
        self.model.play(event)

    def ask(self, at: float, first: int, end: int, **columns: Any) -> None:
        expires_at = START + timedelta(seconds=at + LEASE_SECONDS)
        slots = f"{{[{first},{end})}}"
        columns = {"asked": end - first, "slots": slots, "expires_at": expires_at} | columns
        self.add("ask", at, **columns)

    def tell(
        self, at: float, lease: int, slots: list[int], outcome: tuple[int, int, int], off: int = 0
    ) -> None:
        number = self.model.leases[lease].round
        arms = self.rounds[number].arms
        units = [self.case.score(number, slot, arms[slot % len(arms)]) + off for slot in slots]
        names = ("counted", "late", "duplicate")
        columns = dict(zip(names, outcome, strict=True))
        self.add("tell", at, lease=lease, told=slots, counts=None, units=units, **columns)


def test_the_model_agrees_with_what_the_rules_say() -> None:
    trail = Trail()
    size = trail.rounds[0].size
    assert size is not None
    trail.ask(0.0, 0, 4)
    trail.tell(1.0, 2, [3, 0], (2, 0, 0))
    trail.tell(1.5, 2, [3], (0, 0, 1))
    trail.ask(1.5, 4, size)
    trail.tell(3.0, 2, [1, 3], (1, 1, 0))
    trail.ask(3.0, 2, 3)
    trail.tell(3.1, 2, [2], (1, 0, 0))
    trail.tell(3.2, 7, [2], (0, 0, 1))
    assert trail.verdict.good, trail.verdict.complaints
    assert (trail.verdict.counted, trail.verdict.late, trail.verdict.duplicate) == (4, 1, 2)
    assert trail.verdict.late_counted == 2


@pytest.mark.parametrize(
    ("kind", "mistake"),
    [
        ("doubled", lambda trail: trail.ask(0.5, 3, 8)),
        ("doubled", lambda trail: trail.ask(9.0, 0, 1)),
        ("doubled", lambda trail: trail.tell(0.5, 2, [0], (1, 0, 0))),
        ("doubled", lambda trail: trail.ask(0.5, 5, 6, number=2)),
        ("doubled", lambda trail: trail.ask(0.5, 5, 6, key="key-1")),
        ("gaps", lambda trail: trail.ask(0.5, 6, 7)),
        ("gaps", lambda trail: trail.ask(0.5, 5, 6, number=5)),
        ("wrong", lambda trail: trail.tell(0.5, 2, [1], (1, 0, 0), off=1)),
        ("wrong", lambda trail: trail.tell(0.5, 2, [1], (0, 1, 0))),
        ("wrong", lambda trail: trail.tell(0.5, 2, [7], (1, 0, 0))),
        ("wrong", lambda trail: trail.ask(0.5, 5, 6, asked=2)),
        ("wrong", lambda trail: trail.ask(0.5, 5, 6, expires_at=START)),
    ],
)
def test_the_model_sees_a_mistake(kind: str, mistake: Any) -> None:
    trail = Trail()
    trail.ask(0.0, 0, 5)
    trail.tell(0.1, 2, [0], (1, 0, 0))
    assert trail.verdict.good
    mistake(trail)
    assert getattr(trail.verdict, kind) > 0, trail.verdict


def test_the_model_knows_the_window() -> None:
    case = Case("ordered", "handicap-elimination", 3, 300, in_flight=6)
    trail = Trail(case)
    trail.ask(0.0, 0, 4)
    trail.ask(0.0, 4, 6, asked=4)
    trail.tell(0.1, 3, [4, 5], (2, 0, 0))
    trail.tell(0.2, 2, [0], (1, 0, 0))
    trail.ask(0.3, 6, 7, asked=9)
    assert trail.verdict.good, trail.verdict.complaints
    trail.ask(0.4, 7, 8)
    assert trail.verdict.wrong > 0


def test_an_acknowledged_request_that_is_not_on_record_is_lost() -> None:
    answer = {"counted": 1, "late": 0, "duplicate": 0}
    body = {"lease": 2, "answers": [{"slot": 0, "score": 0.5}]}
    request = Request("a", "tell", 0, body, [(200, answer)])
    event = {
        "key": "a",
        "kind": "tell",
        "lease": 2,
        "told": [0],
        "units": [500_000_000],
        "counts": None,
        **answer,
    }
    for events, expected in (
        ([event], (0, 0)),
        ([], (1, 0)),
        ([event | {"counted": 0, "late": 1}], (0, 1)),
        ([event | {"units": [400_000_000]}], (0, 1)),
        ([event, event | {"key": "b"}], (0, 1)),
    ):
        verdict = Verdict()
        compare_requests(CASE, {"a": request}, events, verdict)
        assert (verdict.lost, verdict.wrong) == expected, verdict.complaints
    refused = Verdict()
    request.answers.append((500, "no"))
    compare_requests(CASE, {"a": request}, [event], refused)
    assert refused.refused == 1


def test_a_journal_survives_a_kill_in_the_middle_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.write({"key": "a", "kind": "ask", "campaign": 0, "body": {"count": 1}})
    journal.close()
    with path.open("ab") as file:
        file.write(b'{"key": "a", "stat')
    journal = Journal(path)
    journal.write({"key": "b", "kind": "ask", "campaign": 0, "body": {"count": 2}})
    journal.write({"key": "b", "given_up": True})
    journal.close()
    found = requests_in(path)
    assert {key: one.unknown for key, one in found.items()} == {"a": True, "b": False}
    assert list(requests_in(path, tail=40)) == []


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_doubled_or_changed() -> None:
    row = sound(seed=0, short=True)
    assert not row.violations
    assert row.client_kills + row.service_kills >= 20
    assert (row.stops, row.pauses) == (3, 3)
    assert row.verdict.good
    assert min(row.verdict.asks, row.verdict.tells, row.verdict.rounds) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT_NAMES)
def test_without_a_guard_the_checker_finds_fault(name: str) -> None:
    row = run_control(name, seed=0)
    assert not row.violations
    assert not row.verdict.good
