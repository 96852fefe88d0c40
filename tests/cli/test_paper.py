"""`affinity paper`: a failed claim is an exit status, and executors are those of sweeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from affinity_bandits.cli.app import app
from affinity_bandits.paper.item import Collection
from tests.cli.test_simulate import refused
from tests.paper.test_runner import SMALL, failing


@pytest.mark.slow
def test_a_failed_claim_ends_in_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Collection, "items", lambda of: {"figure-3": failing(SMALL)})
    arguments = ["paper", "run", "figure-3", "--quick", "--workers", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "fails: <false> & told (0 of 1)" in done.output
    assert (tmp_path / "report.html").exists()
    saved = json.loads((tmp_path / "figure-3" / "claims.json").read_text())
    assert [claim["holds"] for claim in saved["claims"]][-1] is False


@pytest.mark.slow
def test_the_paper_takes_the_same_executors(tmp_path: Path) -> None:
    run = ("paper", "run", "figure-3", "--quick", "--out", tmp_path)
    refused(*run, "--address", "auto", says="address must be left out")
