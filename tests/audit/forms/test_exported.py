"""The table that the service exports is read as its log."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from affinity_bandits.audit.forms.exported import FIRST_COLUMNS
from affinity_bandits.base.tables import TableFile
from affinity_bandits_service.trail.export import FIXED, columns_for
from tests.audit.logs import read_log


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_the_service_exports(tmp_path: Path, ending: str) -> None:
    assert tuple(FIXED) == FIRST_COLUMNS
    names = ("own", "=other, 'and;-more")
    path = tmp_path / f"t.{ending}"
    time = datetime(2025, 3, 31, tzinfo=UTC)
    with TableFile("out", path).open(columns_for(names)) as rows:
        for order, (group, rater, points, outcome) in enumerate(
            [(0, 0, 5, "counted"), (1, 0, 3, "counted"), (1, 1, 2, "late"), (1, 1, 4, "counted")], 1
        ):
            units = Decimal(points)
            told = [order, 1, time, 0, order, names[group], units, 1, units, False]
            told += [outcome == "counted", outcome, f"r{rater}", names[rater], "0" * 64, None]
            rows.add([*told, 1, 1, 3, 2])
    reading = read_log(path, scale=(1, 5))
    assert reading.log.groups == (names[1], names[0])
    assert sorted(1.0 + 4.0 * reading.log.score) == [3.0, 4.0, 5.0]
    assert reading.log.judges == ("r0", "r1")
    assert "1 row skipped: answers that did not count" in " ".join(reading.notes)
