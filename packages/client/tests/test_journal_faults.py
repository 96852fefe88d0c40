"""Journals through full disks, kills and failing machines: no accepted answer is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from affinity_bandits_client.journal import Batch, Journal
from tests.support.journal_faults import histories

WRONG = {
    "lost",
    "twice",
    "invented",
    "other answers under a key",
    "acknowledged answers, with a sound disk",
    "refused on a sound disk",
    "refused without its line",
    "changed although refused",
}


class Forgets(Journal):
    """A journal that goes on without a line that could not be written."""

    def begin(self, batch: Batch) -> None:
        super().begin(batch)
        self._owed = b""

    def settle(self, kept: object = ()) -> None:
        super().settle(kept)  # type: ignore[arg-type]
        self._owed = b""


class Overwrites(Forgets):
    """The same, and its recovery forgets a batch whose reply is not on record."""

    def _put_back(self) -> None:
        pass


class Tears(Journal):
    """A journal that leaves a part of a line in the file."""

    def _write(self, line: bytes = b"") -> None:
        try:
            super()._write(line)
        finally:
            self._torn = False


@pytest.mark.slow
def test_no_history_loses_an_accepted_answer(tmp_path: Path) -> None:
    seen = histories(tmp_path, Journal, 2000)
    assert {kind: number for kind, number in seen.items() if kind in WRONG} == {}
    # The faults did occur.
    assert seen["opened"] > 3000
    assert min(seen["killed"], seen["not opened"], seen["refused"]) > 300


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Forgets, "other answers under a key"),
        (Overwrites, "lost"),
        (Tears, "refused on a sound disk"),
    ],
)
def test_planted_mistakes_are_seen(tmp_path: Path, kind: type[Journal], wrong: str) -> None:
    assert histories(tmp_path, kind, 300)[wrong] > 0
