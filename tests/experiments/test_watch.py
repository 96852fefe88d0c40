"""A shard that takes long is noted in the store; its limit is generous."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.experiments import Cell, Experiment, Store, run_cells, watch
from affinity_bandits.experiments.cells import Shard
from affinity_bandits.policies import UCB1, Elimination, Uniform
from tests.experiments.driver import Sleepy

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0))


@pytest.mark.slow
def test_a_slow_cell_is_noted_with_what_was_finished_before_it_until_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "WATCH_SECONDS", 0.02)
    monkeypatch.setattr(watch, "SLOW_SECONDS", 0.2)
    policies = [Uniform(), Sleepy(seconds=1.5), Elimination()]
    cells = Experiment([Cell(BANDIT, policy, 200) for policy in policies], 3)
    store = Store(tmp_path)
    seen = []

    def look(*_: object) -> None:
        seen.extend(store.slow())

    looking = threading.Timer(1.0, look)
    run_cells(Experiment(cells.cells[:1], 3), Store(tmp_path / "first"))  # compiles
    looking.start()
    assert run_cells(cells, store).failed == 0
    looking.join()
    assert [(note.policy, note.before, note.limit) for note in seen] == [
        ("sleepy(seconds=1.5)", 3, None)
    ]
    assert store.slow() == []


def test_the_usual_time_limit_is_generous() -> None:
    short, long = (Shard(Cell(BANDIT, UCB1(), pulls), 0, 10) for pulls in (100, 10**10))
    assert 3600.0 < watch.usual_limit(short) < 3601.0
    assert watch.usual_limit(long) == pytest.approx(3600.0 + 100 * 10 * 10**10 * 40e-9 * 1.25)
