"""`affinity show` writes a page to play, or a page of runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from affinity_bandits.cli.app import app
from affinity_bandits.plots.explorable import ExplorableWorld


def shown(path: Path, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["show", *arguments, "--out", str(path)])
    assert result.exit_code == 0, result.output
    assert result.output.endswith(f"written: {path}\n")
    return path.read_text(encoding="utf-8")


def test_the_command_writes_a_page_of_runs(tmp_path: Path) -> None:
    text = shown(tmp_path / "loop.html", "--horizon", "1000", "--policy", "ucb1")
    assert "newcomers" in text
    assert 'id="moment"' in text


def test_without_policies_the_command_writes_the_page_that_is_played(tmp_path: Path) -> None:
    def world(*arguments: str) -> Any:
        text = shown(tmp_path / "loop.html", *arguments)
        return json.loads(text.split('id="data">')[1].split("</script>")[0])["world"]

    usual = world()
    assert usual == json.loads(json.dumps(asdict(ExplorableWorld())))
    given = world("--means", "0.45,0.5,.29", "--initial-pulls", "20,3,4", "--seed", "9")
    assert given == usual | {
        "names": ["group 1", "group 2", "group 3"],
        "values": [45, 50, 29],
        "members": [20, 3, 4],
        "seed": 9,
    }
    assert world("--groups", "a,b") == usual | {"names": ["a", "b"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--means", "0.455,0.5"], "means must be hundredths such as 0.45"),
        (
            ["--means", "0.4,0.5,0.6"],
            "initial-pulls must be given with other means, 3 numbers, "
            "one for each mean, e.g. --initial-pulls 5,5,5",
        ),
        (["--means", "0.4,0.5", "--initial-pulls", "0,9"], "members must be"),
        (["--groups", "a"], "groups must be 2 names"),
        (["--seed", "-1"], "seed must be"),
    ],
)
def test_a_world_that_cannot_be_played_is_refused(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "loop.html"
    result = CliRunner().invoke(app, ["show", *arguments, "--out", str(path)])
    assert result.exit_code != 0
    assert said in str(result.exception)
    assert not path.exists()
