"""Whatever is killed, crashed or paused, what was acknowledged is on record, once.

The slow ones are the short form of `make soak-service`: a PostgreSQL of their own, real servers
and clients. The quick ones show the checker's model what it must not let pass.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soak.service.__main__ import failover, sound
from soak.service.cases import Case
from soak.service.checker import compare_requests
from soak.service.controls import SHORT_NAMES, run_control
from soak.service.journal import Journal, Request, requests_in
from soak.service.replay import Replay
from soak.service.verdict import Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)
CASE = Case("small", "successive-rejects", 3, 30)
LEASE_SECONDS = 2.0


class Trail:
    """Events of a campaign as the service would write them, replayed against the model."""

    def __init__(self, case: Case = CASE) -> None:
        self.case = case
        self.verdict = Verdict()
        self.events: list[dict[str, Any]] = []
        self.replay = Replay(case, LEASE_SECONDS, START, self.verdict)
        self.model = self.replay.model
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
        self.replay.play(event)

    def ask(self, at: float, first: int, end: int, **columns: Any) -> None:
        expires_at = START + timedelta(seconds=at + LEASE_SECONDS)
        slots = f"{{[{first},{end})}}"
        columns = {"asked": end - first, "slots": slots, "expires_at": expires_at} | columns
        self.add("ask", at, **columns)

    def tell(
        self, at: float, lease: int, slots: list[int], outcome: tuple[int, int, int], off: int = 0
    ) -> None:
        number = self.model.leases[lease].round
        arm = self.model.rounds[number].arm
        units = [self.case.score(number, slot, arm(slot)) + off for slot in slots]
        names = ("counted", "late", "duplicate")
        columns = dict(zip(names, outcome, strict=True))
        self.add("tell", at, lease=lease, told=slots, counts=None, units=units, **columns)


def test_the_model_agrees_with_what_the_rules_say() -> None:
    trail = Trail()
    size = trail.model.round.size
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


def told_round(trail: Trail) -> dict[str, Any]:
    """Answer the first round, by totals and by slots; return what its closing should say."""
    current = trail.model.round
    scores = [trail.case.score(0, slot, current.arm(slot)) for slot in range(current.size)]
    trail.ask(0.0, 0, 4)
    by_arm = [[scores[slot] for slot in range(4) if current.arm(slot) == a] for a in current.arms]
    columns = {"counts": [len(own) for own in by_arm], "units": [sum(own) for own in by_arm]}
    outcome = {"counted": 4, "late": 0, "duplicate": 0}
    trail.add("tell", 0.1, lease=2, told=list(current.arms), **columns, **outcome)
    trail.ask(0.1, 4, current.size)
    trail.tell(0.2, 4, list(range(4, current.size)), (current.size - 4, 0, 0))
    policy = trail.model.policy
    width = len(current.arms)
    sums = [sum(scores[place::width]) for place in range(width)]
    state = policy.absorbed(trail.model.state, np.array(sums) / 1e9)
    dropped = [arm for arm in current.arms if not policy.kernels().candidate(state, arm)]
    return {
        "arms": list(current.arms),
        "size": current.size,
        "counts": [current.repetitions] * width,
        "sums": [str(total) for total in sums],
        "dropped": dropped,
        "state": policy.save(state, trail.case.arms, trail.case.horizon)["state"],
    }


def test_the_model_closes_a_round_as_the_policy_does() -> None:
    trail = Trail()
    detail = told_round(trail)
    assert detail["dropped"]
    trail.add("close", 0.3, detail=json.dumps(detail))
    assert trail.verdict.good, trail.verdict.complaints
    assert (trail.model.number, trail.replay.closed) == (1, [0])


@pytest.mark.parametrize("part", ["arms", "size", "counts", "sums", "dropped", "state"])
def test_the_model_sees_a_round_that_is_closed_wrongly(part: str) -> None:
    trail = Trail()
    detail = told_round(trail)
    trail.add("close", 0.3, detail=json.dumps(detail | {part: None}))
    assert trail.verdict.wrong == 1, trail.verdict.complaints


def test_the_model_counts_scores_where_the_policy_does() -> None:
    case = Case("stars", "handicap-elimination", 2, 100, 1, 5, bounded=True, in_flight=8)
    for told in (True, False):
        trail = Trail(case)
        scores = [case.score(0, slot, slot % 2) for slot in range(8)]
        trail.ask(0.0, 0, 8)
        columns = {"counts": [1] * 8, "units": scores[::2] + scores[1::2]}
        outcome = {"counted": 8, "late": 0, "duplicate": 0}
        trail.add("tell", 0.1, lease=2, told=[0] * 4 + [1] * 4, **columns, **outcome)
        assert trail.verdict.good, trail.verdict.complaints
        tallies = trail.model.tallies()
        assert tallies is not None
        for place, own in enumerate(tallies):
            assert sum(own) == 4 * 4 * 10**9  # answers, times the width of the range
            way = sum(node * tally for node, tally in enumerate(own))
            assert way == (sum(scores[place::2]) - 4 * 10**9) * 16
        counts = np.array([tally / (4 * 10**9) for own in tallies for tally in own])
        policy = trail.model.policy
        state = policy.absorbed(trail.model.state, counts)
        detail = {
            "arms": [0, 1],
            "size": 8,
            "counts": [4, 4],
            "sums": [str(sum(scores[place::2])) for place in (0, 1)],
            "dropped": [],
            "state": policy.save(state, 2, 100)["state"],
        }
        if told:
            detail["tallies"] = [[str(tally) for tally in own] for own in tallies]
        trail.add("close", 0.3, detail=json.dumps(detail))
        assert trail.verdict.wrong == (not told), trail.verdict.complaints


def test_a_mistake_is_not_found_again_in_every_later_round() -> None:
    detail = told_round(Trail())
    trail = Trail()
    trail.ask(0.0, 0, 4)
    trail.add("close", 0.1, detail=json.dumps(detail))  # with no answer at all
    assert trail.verdict.wrong == 1, trail.verdict.complaints
    trail.ask(0.2, 0, 1)
    assert (trail.verdict.wrong, trail.model.number) == (1, 1), trail.verdict.complaints
    trail.add("close", 0.3, round=0, detail=json.dumps(detail))
    assert trail.verdict.doubled == 1


@pytest.mark.slow
def test_the_model_needs_nothing_of_the_service() -> None:
    # Else the service would be compared with itself.
    loaded = "import sys, soak.service.replay; print(*sys.modules)"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", loaded]
    modules = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=root
    ).stdout.split()
    assert "soak.service.model" in modules
    assert "affinity_bandits.policies" in modules
    assert not [name for name in modules if name.startswith("affinity_bandits.service")]


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
@pytest.mark.long
def test_nor_when_a_standby_takes_over_and_parents_of_servers_are_killed() -> None:
    row = failover(seed=0, short=True)
    assert not row.violations
    assert (row.stops, row.service_kills) == (3, 4)
    assert row.verdict.good
    assert min(row.verdict.asks, row.verdict.tells, row.verdict.rounds) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT_NAMES)
def test_without_a_guard_the_checker_finds_fault(name: str) -> None:
    row = run_control(name, seed=0)
    assert not row.violations
    assert not row.verdict.good
