"""Items run the same twice, resume, and end in one report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from affinity_bandits.experiments import Store, work
from affinity_bandits.paper import PAPER, SCALES, Claim, Item, StoreCellRunner, run_item
from affinity_bandits.paper.runner import render_report
from affinity_bandits.paper.standard_algorithms import FIGURE_3

SMALL = replace(
    FIGURE_3,
    settings=dict.fromkeys(SCALES, replace(FIGURE_3.settings["quick"], replicates=5, horizon=200)),
)


def runner(folder: Path) -> StoreCellRunner:
    return StoreCellRunner(Store(folder))


@pytest.mark.slow
def test_an_item_writes_the_same_files_twice(tmp_path: Path) -> None:
    for name in ("first", "second"):
        run_item(SMALL, "quick", runner(tmp_path / name / "store"), tmp_path / name)
    for file in ("figure.png", "figure.svg", "data.parquet", "claims.json"):
        paths = [tmp_path / name / "figure-3" / file for name in ("first", "second")]
        assert paths[0].read_bytes() == paths[1].read_bytes(), file


@pytest.mark.slow
def test_a_second_run_recomputes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_item(SMALL, "quick", runner(tmp_path / "store"), tmp_path)

    def refuse(*arguments: object) -> None:
        raise AssertionError("run again")

    monkeypatch.setattr(work, "run_shard", refuse)
    first = run_item(SMALL, "quick", runner(tmp_path / "store"), tmp_path)
    # Neither a finished item nor, where an item was cut off, its finished cells.
    again = run_item(replace(SMALL, run=refuse), "quick", runner(tmp_path / "store"), tmp_path)
    assert again.claims == first.claims
    (tmp_path / "figure-3" / "claims.json").unlink()
    assert run_item(SMALL, "quick", runner(tmp_path / "store"), tmp_path).claims == first.claims


@pytest.mark.slow
def test_an_item_with_other_settings_is_run_again(tmp_path: Path) -> None:
    run_item(SMALL, "quick", runner(tmp_path / "store"), tmp_path)
    settings = replace(SMALL.settings["quick"], replicates=6)
    other = replace(SMALL, settings=dict.fromkeys(SCALES, settings))
    outcome = run_item(other, "quick", runner(tmp_path / "store"), tmp_path)
    assert "of 6" in outcome.claims[0].evidence


def failing(item: Item) -> Item:
    false = Claim("<false> & told", "eq:UCB", "by hand", "0 of 1", False)
    return replace(item, claims=lambda data: [*item.claims(data), false])


@pytest.mark.slow
def test_the_report_holds_everything_and_needs_nothing(tmp_path: Path) -> None:
    outcome = run_item(failing(SMALL), "quick", runner(tmp_path / "store"), tmp_path)
    page = render_report([outcome], PAPER)
    for claim in outcome.claims[:-1]:
        assert claim.evidence in page
    assert "&lt;false&gt; &amp; told" in page
    assert "Verdicts that are not what was known" in page
    assert page.count("data:image/png;base64,") == 1
    # Nothing is fetched: every reference is a data URL or an anchor of the page itself.
    assert "http" not in page
    assert 'src="data:' in page
    assert page.count('href="') == page.count('href="#')
