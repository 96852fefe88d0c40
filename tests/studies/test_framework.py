"""Studies are listed, shown, run and reported as the paper's items are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from affinity_bandits.cli.app import app
from affinity_bandits.errors import InvalidInput
from affinity_bandits.paper import Claim, Item, run_item
from affinity_bandits.paper.runner import fingerprint
from affinity_bandits.studies import registry, studies
from tests.paper.cell_runner import runner_in

ROOT = Path(__file__).parents[2]
SCALES = {"quick", "full"}


@pytest.mark.parametrize("study", studies().values(), ids=lambda study: study.identity)
def test_a_study_is_complete(study: Item) -> None:
    assert set(study.settings) == SCALES
    assert len(study.notes) > 80
    assert not study.title.endswith(".")
    assert all((ROOT / label).is_file() for label in study.labels), study.labels


def known(study: Item, *, holds: bool) -> Item:
    """Return a study that runs nothing and claims one thing."""
    from affinity_bandits.plots.style import new_figure

    claim = Claim("<told>", study.labels[0], "by hand", "1 of 1", holds)
    return replace(
        study,
        run=lambda settings, runner: {"x": [1.0]},
        claims=lambda data: [claim],
        draw=lambda data: new_figure()[0],
    )


@pytest.mark.slow
@pytest.mark.parametrize("holds", [True, False])
def test_a_run_writes_one_report_and_tells_by_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, holds: bool
) -> None:
    (name, study), *_ = studies().items()
    monkeypatch.setattr(registry, "studies", lambda: {name: known(study, holds=holds)})
    arguments = ["study", "run", name, "--quick", "--workers", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == (0 if holds else 1), done.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Open problems" in page
    assert "&lt;told&gt;" in page
    # Labels are pages of the documentation here: nothing of the paper's is listed or linked to.
    assert study.labels[0] in page
    assert f'href="#{study.labels[0]}"' not in page
    assert "Where each label of the paper lives" not in page


def test_all_are_listed_and_shown() -> None:
    listed = CliRunner().invoke(app, ["study", "list"]).output
    for name, study in studies().items():
        assert name in listed
        shown = CliRunner().invoke(app, ["study", "show", name]).output
        assert study.notes in shown
        assert "as-published" not in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["study", "run", "horizons"], "horizons"),
        (["study", "run", "--quick", "--full"], "--quick and --full"),
    ],
)
def test_mistakes_are_named(arguments: list[str], words: str) -> None:
    assert words in str(CliRunner().invoke(app, arguments).exception)


def test_a_study_has_no_published_scale(tmp_path: Path) -> None:
    study = next(iter(studies().values()))
    with pytest.raises(InvalidInput, match="scale"):
        run_item(study, "as-published", runner_in(tmp_path), tmp_path)


def test_a_change_of_a_study_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is finished is run again once a file of this room is another."""
    study = next(iter(studies().values()))
    before = fingerprint(study, "quick")
    changed = Path(registry.__file__).resolve()
    read = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + b"#" * (path.resolve() == changed)
    )
    assert fingerprint(study, "quick") != before
