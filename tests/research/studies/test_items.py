"""Studies are complete and listed; their claims hold, and fail in planted wrong worlds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Store
from affinity_bandits.paper import Claim, Item, StoreCellRunner, run_item
from affinity_bandits.paper.item import PlantedWorld
from affinity_bandits.paper.runner import fingerprint, render_report, run_planted
from affinity_bandits.plots.style import new_figure
from research.studies import STUDIES, memory
from research.studies.__main__ import study_app
from research.studies.contexts import (
    COMPARISONS,
    NAMES,
    NOTES,
)
from research.studies.contexts import (
    claims as claims_on_contexts,
)
from research.studies.memory import NEVER
from tests.support.claims import assert_verdicts, verdicts

ROOT = Path(__file__).parents[3]
SCALES = {"quick", "full"}


@pytest.mark.parametrize("study", STUDIES.items().values(), ids=lambda study: study.identity)
def test_a_study_is_complete(study: Item) -> None:
    assert set(study.settings) == SCALES
    assert len(study.notes) > 80
    assert not study.title.endswith(".")
    assert all((ROOT / label).is_file() for label in study.labels), study.labels


def test_all_are_listed_and_shown() -> None:
    listed = CliRunner().invoke(study_app, ["list"]).output
    for name, study in STUDIES.items().items():
        assert name in listed
        shown = CliRunner().invoke(study_app, ["show", name]).output
        assert study.notes in shown
        assert "as-published" not in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "horizons"], "horizons"),
        (["run", "--quick", "--full"], "--quick and --full"),
    ],
)
def test_mistakes_are_named(arguments: list[str], words: str) -> None:
    assert words in str(CliRunner().invoke(study_app, arguments).exception)


def test_a_study_has_no_published_scale(tmp_path: Path) -> None:
    study = next(iter(STUDIES.items().values()))
    with pytest.raises(InvalidInput, match="scale"):
        run_item(study, "as-published", StoreCellRunner(Store(tmp_path)), tmp_path)


def test_a_change_of_a_study_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is finished is run again once a file of this room is another."""
    study = next(iter(STUDIES.items().values()))
    before = fingerprint(study, "quick")
    changed = Path(memory.__file__).resolve()
    read = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + b"#" * (path.resolve() == changed)
    )
    assert fingerprint(study, "quick") != before


SMALL: dict[str, dict[str, Any]] = {
    "horizon": {
        "exponents": (1.0,),
        "offsets": (-1.0,),
        "times": tuple(10**x for x in range(4, 10)),
        "slow_times": (10**4,),
    },
    "memory": {"memories": (2, 3, 16, 4096), "short": (5, 6)},
    "memory-paths": {"memories": (2,), "horizon": 10_000},
    "contexts": {"horizon": 4_000},
}
"""Changes to the quick settings that make each study cheap."""


@dataclass(frozen=True)
class Blind:
    """The settings of an item whose claims always hold."""


def run(identity: str, folder: Path) -> Any:
    study = STUDIES.items()[identity]
    settings = replace(study.settings["quick"], **SMALL[identity])
    return study, study.run(settings, StoreCellRunner(Store(folder)))


@pytest.mark.slow
@pytest.mark.nightly_but("[horizon", "memory-paths")
@pytest.mark.parametrize("identity", SMALL)
def test_claims_hold(identity: str, tmp_path: Path) -> None:
    study, data = run(identity, tmp_path)
    assert [claim.sentence for claim in study.claims(data) if not claim.holds] == []
    assert len(study.draw(data).axes) >= 2


@pytest.mark.slow
@pytest.mark.nightly_but("horizon-no bias", "f(x) = x")
@pytest.mark.parametrize(
    ("study", "world"),
    [
        pytest.param(study, world, id=f"{name}-{world}")
        for name, study in STUDIES.items().items()
        for world in study.planted
    ],
)
def test_claims_fail_in_a_planted_world(study: Item, world: str, tmp_path: Path) -> None:
    found = run_planted(study, world, StoreCellRunner(Store(tmp_path)))
    assert found.as_planted
    assert found.failing


def test_a_planted_world_that_nobody_notices_is_reported(tmp_path: Path) -> None:
    claim = Claim("it holds", "", "", "", holds=True)
    item = Item(
        identity="blind",
        title="blind",
        labels=(),
        notes="",
        settings={"quick": Blind()},
        run=lambda settings, runner: {},
        claims=lambda data: [claim],
        draw=lambda data: new_figure()[0],
        planted={"false": PlantedWorld({}, "F")},
    )
    outcome = run_item(item, "quick", StoreCellRunner(Store(tmp_path)), tmp_path)
    assert not outcome.as_known
    assert "not as expected" in render_report([outcome], STUDIES)


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        ({"fixed": 1_000, "whole": 200, "half": 83}, "TTF"),
        ({"fixed": 40, "whole": 40, "half": 20}, "FFT"),
    ],
    ids=["half counts fail in one run of twelve", "everybody keeps the level"],
)
def test_a_broken_level_of_the_passes_is_seen(lost: dict[str, int], expected: str) -> None:
    rows = [
        ("drawn", policy, number, time, 0.0, False)
        for policy in NAMES
        for number in range(4)
        for time in range(NOTES)
    ]
    rows += [
        ("adverse", name, number, 100, 0.0, number < lost[name])
        for name in COMPARISONS
        for number in range(1_000)
    ]
    names = ("world", "policy", "run", "time", "part", "lost")
    data = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert verdicts(claims_on_contexts(data)[-3:]) == expected


def test_a_broken_guarantee_of_the_head_start_is_seen() -> None:
    """The best group is lost in one run of twelve."""
    rows = [("map", "head start", 16, 10, run % 12 == 0, 100) for run in range(240)]
    cells = [
        ("map", policy, at)
        for policy in ("ucb1", "elimination", "told")
        for at in (NEVER, 3, 16, 4096)
    ]
    cells += [("map", "head start", 4096), ("short", "head start", 5), ("short", "head start", 6)]
    rows += [(*cell, wasted, False, 100) for cell in cells for wasted in (10, 12)]
    names = ("world", "policy", "memory", "wasted", "lost", "horizon")
    data = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    guarantee = memory.claims(data)[6]
    assert "at most 0.05" in guarantee.sentence
    assert not guarantee.holds


@pytest.mark.slow
@pytest.mark.nightly
def test_mixed_up_memories_are_seen(tmp_path: Path) -> None:
    """Runs with a memory of 4,096 are labeled 16, and the other way round."""
    study, data = run("memory", tmp_path)
    swapped = {16: 4096, 4096: 16}
    wrong = {**data, "memory": [swapped.get(one, one) for one in data["memory"]]}
    assert_verdicts(study.claims(wrong), "F-F----FF-", "mixed up")
