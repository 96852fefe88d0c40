"""Whatever is killed, crashed or paused, what was acknowledged is on record, once.

The slow ones are the short form of `make soak-service`: a PostgreSQL of their own, real servers
and clients. The quick ones show the checker what it must not let pass.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.soak.service.__main__ import failover, pooled, sound, upgraded
from checks.soak.service.cases import Case
from checks.soak.service.checker import compare_requests
from checks.soak.service.client import Journal, Request, requests_in
from checks.soak.service.controls import SHORT_NAMES, run_control
from checks.soak.service.rows import Row, Verdict

CASE = Case("small", "successive-rejects", 3, 30)


@pytest.mark.slow
def test_the_model_needs_nothing_of_the_service() -> None:
    # Else the service would be compared with itself.
    loaded = "import sys, packages.service.tests.core.campaign_model; print(*sys.modules)"
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", loaded]
    modules = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=root
    ).stdout.split()
    assert "packages.service.tests.core.campaign_model" in modules
    assert "affinity_bandits.policies" in modules
    assert not [name for name in modules if name.startswith("affinity_bandits_service")]


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
        ([event, event], (0, 0)),
    ):
        verdict = Verdict()
        compare_requests(CASE, {"a": request}, events, verdict)
        assert (verdict["lost"], verdict["wrong"]) == expected, verdict.complaints
        assert verdict["doubled"] == (events == [event, event])
    refused = Verdict()
    request.answers.append((500, "no"))
    compare_requests(CASE, {"a": request}, [event], refused)
    assert refused["refused"] == 1


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


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_doubled_or_changed() -> None:
    row = sound(seed=0, short=True)
    assert not row.violations
    assert row.client_kills + row.service_kills >= 20
    assert (row.stops, row.pauses) == (3, 3)
    assert row.verdict.good
    assert min(row.verdict[name] for name in ("asks", "tells", "rounds")) > 0


@pytest.mark.slow
@pytest.mark.long
def test_nor_when_a_standby_takes_over_and_parents_of_servers_are_killed() -> None:
    row = failover(seed=0, short=True)
    assert not row.violations
    assert (row.stops, row.service_kills) == (3, 4)
    assert row.verdict.good
    assert min(row.verdict[name] for name in ("asks", "tells", "rounds")) > 0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scenario", [pooled, upgraded])
def test_nor_behind_a_pooler_or_through_a_migration(scenario: Callable[..., Row]) -> None:
    row = scenario(seed=0, short=True)
    assert not row.violations
    assert (row.stops, row.service_kills) == (3, 4)
    assert row.verdict.good
    assert min(row.verdict[name] for name in ("asks", "tells", "rounds")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT_NAMES)
def test_without_a_guard_the_checker_finds_fault(name: str) -> None:
    row = run_control(name, seed=0)
    assert not row.violations
    assert not row.verdict.good
