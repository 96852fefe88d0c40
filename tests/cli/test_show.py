"""`affinity show` writes a page of a run."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from affinity_bandits.cli.app import app


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    path = tmp_path / "loop.html"
    arguments = ["show", "--horizon", "1000", "--policy", "ucb1", "--out", str(path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "newcomers" in path.read_text(encoding="utf-8")
