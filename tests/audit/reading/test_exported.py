"""What the service exports can be audited as it is."""

from __future__ import annotations

import asyncio
import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits.audit.reading import exports
from affinity_bandits.audit.reading.exports import unprotected
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.trail.export import FIXED, columns_for
from affinity_bandits.service.trail.table_files import Target, harmless
from tests.audit.reading.files import consumed, opened
from tests.service.trail.exported import STARS, a_busy_campaign
from tests.service.trail.exported import written as exported
from tests.support.one_campaign import OneCampaign
from tests.support.one_campaign import opened as campaign_opened

NAMES = ("own", "=other, 'and;-more")
Answer = tuple[int, str, float, bool, bool]
SCALE: dict[str, Any] = {"lowest": 1, "highest": 5, "initial": None}
ANSWERS: list[Answer] = [
    (1, NAMES[0], 5, False, True),
    (1, NAMES[1], 3, False, True),
    (2, NAMES[0], 1, False, False),
    (3, NAMES[0], 4, False, True),
]


def table(
    path: Path,
    answers: list[Answer],
    *,
    members: tuple[int | None, int | None] = (3, 2),
    judges: tuple[int | None, int | None] = (None, None),
    outsiders: int | None = None,
) -> Path:
    """A file as the service writes it."""
    time = datetime(2025, 3, 31, tzinfo=UTC)
    with Target(path).written(columns_for(NAMES)) as rows:
        for order, (event, group, score, total, counted) in enumerate(answers, start=1):
            units = int(score * 10**9)
            outcome = "counted" if counted else "late"
            slot = None if total else order
            told = [order, event, time, 0, slot, group, units, 1, units, total, counted, outcome]
            rows.add([*told, None, None, "0" * 64, outsiders, *judges, *members])
    return path


def test_the_header_is_that_of_the_service() -> None:
    assert tuple(column.name for column in FIXED) == exports.FIXED


def test_names_are_read_as_they_were() -> None:
    for name in (*NAMES, "it's", "'", "''", "a|'b", "plain", "-1", " =x", "@", "a,'=b"):
        assert unprotected(harmless(name)) == name


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_answers_that_counted_are_read(tmp_path: Path, ending: str) -> None:
    reader = opened(table(tmp_path / f"t.{ending}", ANSWERS), **SCALE)
    (rows,) = list(reader)
    assert reader.initial == {NAMES[0]: 3, NAMES[1]: 2}
    assert reader.left_out == 1
    assert rows.group.tolist() == [0, 1, 0]
    assert rows.score.tolist() == [1.0, 0.5, 0.75]
    assert rows.opens is not None
    assert rows.opens.tolist() == [True, False, True]
    assert rows.panel is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("outsiders", [None, 0, 4])
def test_who_judged_is_read(tmp_path: Path, ending: str, outsiders: int | None) -> None:
    path = table(tmp_path / f"t.{ending}", ANSWERS, judges=(1, 3), outsiders=outsiders)
    (rows,) = list(opened(path, **SCALE))
    all_of_them = 4 + (outsiders or 0)
    assert rows.panel is not None
    assert rows.panel.tolist() == [1 / all_of_them, 3 / all_of_them, 1 / all_of_them]
    turned = {NAMES[1]: 2, NAMES[0]: 3}
    (again,) = list(opened(path, **{**SCALE, "initial": turned}))
    assert again.group.tolist() == [1, 0, 1]
    assert again.panel is not None
    assert again.panel.tolist() == rows.panel.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("answers", "changes", "message"),
    [
        (
            [*ANSWERS, (4, NAMES[0], 4.0, True, True)],
            {},
            r"^total in (line 6|row 5) must be no: an audit needs every score, .*, got 'yes'$",
        ),
        (
            [*ANSWERS[:3], (4, NAMES[0], 7.0, False, True)],
            {},
            r"^score in (line 5|row 4) must be a number from 1 to 5, got",
        ),
        (
            [ANSWERS[2]],
            {},
            r"^the log must be of at least one answer that counted, got 0$",
        ),
        (ANSWERS, {"initial": {"own": 1, "x": 1}}, r"^initial must be of the groups own, =other"),
    ],
)
def test_what_is_wrong_with_an_export_is_said(
    tmp_path: Path, ending: str, answers: list[Answer], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        consumed(table(tmp_path / f"t.{ending}", answers), **{**SCALE, **changes})


def test_a_committee_that_was_not_told_is_asked_for(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", ANSWERS, members=(None, None))
    with pytest.raises(InvalidInput, match=r"^initial must be given: how many of each group"):
        opened(path, **SCALE)
    consumed(path, **{**SCALE, "initial": dict.fromkeys(NAMES, 1)})


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_export_of_the_service_itself(dsn: str, tmp_path: Path, ending: str) -> None:
    names = ("referrals", "open call", "agency")
    initial = dict.fromkeys(names, 1)
    path = tmp_path / f"t.{ending}"

    async def test(one: OneCampaign) -> list[dict[str, Any]]:
        await a_busy_campaign(one, names)
        return await exported(one, path)

    async def run() -> list[dict[str, Any]]:
        async with campaign_opened(dsn) as one:
            return await test(one)

    rows = asyncio.run(run())
    yes = "yes" if ending == "csv" else True
    assert any(row["total"] == yes and row["counted"] == yes for row in rows)
    scale = {"lowest": STARS[0], "highest": STARS[1], "initial": initial}
    with pytest.raises(InvalidInput, match=r"^total in (line|row) \d+ must be no"):
        consumed(path, **scale)
    if ending == "csv":  # without its totals, it is read
        kept = [row for row in rows if row["total"] == "no"]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(kept)
        reader = opened(path, **scale)
        read = sum(len(part.group) for part in reader)
        assert read == sum(row["counted"] == "yes" for row in kept)
        assert reader.left_out == len(kept) - read > 0
