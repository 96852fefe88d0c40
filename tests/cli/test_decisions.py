"""`affinity simulate --log`: every decision in a file, and mistakes in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Joining, Judges, Power, Result, simulate_log

from .test_simulate import refused, succeeded

pytestmark = pytest.mark.slow  # each test compiles

QUICK = (
    *("simulate", "--means", "0.4,0.6", "--bias", "power", "--initial-pulls", "10,5"),
    *("--horizon", "50", "--replicates", "3", "--seed", "7"),
)
BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[10, 5])


def read(path: Path) -> dict[str, list[object]]:
    from pyarrow import csv, parquet

    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    found: dict[str, list[object]] = table.to_pydict()
    if path.suffix == ".csv":
        found["joined"] = [{"yes": True, "no": False}[str(text)] for text in found["joined"]]
    return found


@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "LOG.CSV"])
@pytest.mark.parametrize("policy", ["ucb1", "elimination"])
def test_the_file_has_what_python_simulates(policy: str, name: str, tmp_path: Path) -> None:
    path, saved = tmp_path / name, tmp_path / "result.npz"
    printed = succeeded(*QUICK, "--policy", policy, "--log", path, "--save", saved)
    assert f"log: {path}, 150 decisions" in printed
    if name == "LOG.CSV":
        path = path.rename(tmp_path / "log.csv")
    found = read(path)
    assert list(found) == ["replicate", "time", "group", "score", "share", "joined"]
    logs = [simulate_log(BANDIT, policy, 50, 7, replicate=number) for number in range(3)]
    for column, values in found.items():
        assert values == np.concatenate([log.columns()[column] for log in logs]).tolist(), column
    # What is printed and saved is of the same runs.
    result = Result.load(saved)
    assert [run.engine for run in result.runs] == ["steps"]
    assert result.pulls[0, :, -1].tolist() == [log.pulls.tolist() for log in logs]


def test_panels_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    panel = ("--joining", "0.5", "--judges", "panel:seats=4", "--policy", "ucb1")
    succeeded(*QUICK, *panel, "--bias", "in-group-bonus", "--log", path)
    bandit = AffinityBandit(
        [0.4, 0.6], "in-group-bonus", [10, 5], joining=Joining(0.5), judges=Judges("panel", 4)
    )
    log = simulate_log(bandit, "ucb1", 50, 7)
    assert log.panel is not None
    found = read(path)
    assert list(found)[6:] == ["panel_0", "panel_1"]
    assert found["panel_1"][:50] == log.panel[:, 1].tolist()


def test_a_file_names_the_policy(tmp_path: Path) -> None:
    config, path = tmp_path / "study.toml", tmp_path / "log.csv"
    config.write_text(
        "[bandit]\ntrue_means = [0.4, 0.6]\n[run]\nhorizon = 20\nreplicates = 2\n"
        '[run.policies]\nmine = "ucb1"\n',
        encoding="utf-8",
    )
    assert "40 decisions" in succeeded("simulate", config, "--log", path)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "log must be of one policy, e.g. --policy ucb1, got '2 policies'"),
        (("--policy", "ucb1", "--policy", "moss"), "log must be of one policy"),
        (("--policy", "elimination", "--engine", "rounds"), "log must be left out with engine"),
        (("--policy", "ucb1", "--engine", "round"), "engine | did you mean 'rounds'?"),
        (("--policy", "ucb2"), "policy | did you mean 'ucb1'?"),
        (("--policy", "ucb1", "--horizon", "1e12"), "a log of 1,000,000,000,000 pulls | GiB"),
        (("--policy", "ucb1", "--horizon", "0"), "horizon | from 1 | got 0"),
        (("--policy", "ucb1", "--seed", "-1"), "seed | from 0 | -1"),
        (("--policy", "ucb1", "--replicates", "0"), "replicates | got 0"),
    ],
)
def test_refuses_a_wrong_option_in_one_line(
    options: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    refused(*QUICK, *options, "--log", tmp_path / "log.csv", says=says)
    assert not list(tmp_path.iterdir())


def test_refuses_to_write_where_it_cannot(tmp_path: Path) -> None:
    one = (*QUICK, "--policy", "ucb1", "--log")
    assert "log must be in a directory" in refused(*one, tmp_path / "nowhere" / "log.csv")
    for wrong in ("log.txt", "log", "log.parquet.gz"):
        assert "log must be a file that ends in .csv or .parquet" in refused(*one, tmp_path / wrong)
    (tmp_path / "folder.csv").mkdir()
    assert "log must be a file, not a directory" in refused(*one, tmp_path / "folder.csv")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no files")
def test_names_the_file_that_a_folder_would_not_take() -> None:
    message = refused(*QUICK, "--policy", "ucb1", "--log", "/proc/self/log.csv")
    assert "/proc/self/log.csv" in message
