"""Logs of runs: what they hold, as arrays and as files, and what is refused."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from affinity_bandits import (
    UCB1,
    AffinityBandit,
    Gaussian,
    Judges,
    MissingExtra,
    NotSupported,
    Power,
    RunLog,
    simulate_log,
    write_logs,
)
from affinity_bandits.base.errors import InvalidInput

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
PANEL = AffinityBandit(
    [0.4, 0.6, 0.5], bias="in-group-bonus", judges=Judges("panel", seats=6), joining=0.5
)


@pytest.fixture(scope="module")
def log() -> RunLog:
    return simulate_log(BANDIT, "ucb1", 500, seed=1, replicate=7)


@pytest.fixture(scope="module")
def panel_log() -> RunLog:
    return simulate_log(PANEL, UCB1(), 200, unchosen=True)


def test_a_row_is_a_pull_and_its_share_the_one_before_it(log: RunLog) -> None:
    members = np.array([100, 10])
    for arm, share in zip(log.arm, log.share, strict=True):
        assert share == members[arm] / members.sum()
        members[arm] += 1
    assert log.time.tolist() == list(range(1, 501))
    assert log.pulls.tolist() == (members - [100, 10]).tolist()
    assert log.joined.all()
    assert repr(log) == "RunLog(500 decisions of ucb1, replicate 7)"


def test_the_columns_of_a_log_are_its_arrays(log: RunLog, panel_log: RunLog) -> None:
    plain = ["replicate", "time", "group", "score", "share", "joined"]
    assert list(log.columns()) == plain
    seats, scores = ([f"{kind}_{arm}" for arm in range(3)] for kind in ("panel", "score"))
    assert list(panel_log.columns()) == plain + seats + scores
    assert panel_log.panel is not None
    share = panel_log.panel[np.arange(200), panel_log.arm] / panel_log.panel.sum(axis=1)
    assert share.tolist() == panel_log.share.tolist()


def test_recused_judges_are_a_panel_without_seats() -> None:
    log = simulate_log(AffinityBandit([0.4, 0.6], "in-group-bonus", judges="recused"), "ucb1", 50)
    assert log.panel is not None
    assert not log.panel.any()
    assert not log.share.any()


def test_what_the_unchosen_score_has_the_law_of_what_the_chosen_score() -> None:
    """Means of 20,000 coins: beyond five standard errors (0.018) with probability 6e-7."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[3, 1], judges="recused")
    even = AffinityBandit([0.4, 0.6])
    log = simulate_log(even, "uniform", 40_000, unchosen=True)
    assert log.scores is not None
    for arm in (0, 1):
        unchosen = log.scores[log.arm != arm, arm]
        assert abs(unchosen.mean() - even.true_means[arm]) < 0.018
        assert np.array_equal(log.scores[log.arm == arm, arm], log.score[log.arm == arm])
    # Nobody of one's own judges, so f is 0 and so is every score.
    nothing = simulate_log(bandit, "uniform", 200, unchosen=True)
    assert nothing.scores is not None
    assert not nothing.scores.any()


def test_a_parquet_file_is_the_log_to_the_bit(panel_log: RunLog, tmp_path: Path) -> None:
    from pyarrow import parquet

    panel_log.write(tmp_path / "log.parquet")
    table = parquet.read_table(tmp_path / "log.parquet")
    assert table.equals(panel_log.to_arrow())
    for name, column in panel_log.columns().items():
        assert table[name].to_numpy().tobytes() == column.tobytes(), name


def test_a_csv_file_is_the_log_to_the_bit(tmp_path: Path) -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), noise=Gaussian(0.5), joining=0.5)
    log = simulate_log(bandit, "ucb1", 300)
    log.write(tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(log.columns())
    found = dict(zip(header, zip(*rows, strict=True), strict=True))
    assert [float(text) for text in found["score"]] == log.score.tolist()
    assert [float(text) for text in found["share"]] == log.share.tolist()
    assert [int(text) for text in found["group"]] == log.arm.tolist()
    assert [{"yes": True, "no": False}[text] for text in found["joined"]] == log.joined.tolist()
    assert 0 < log.joined.sum() < 300


@pytest.mark.parametrize("name", ["logs.csv", "logs.parquet"])
def test_several_logs_are_one_below_the_other(name: str, tmp_path: Path) -> None:
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    path = tmp_path / name
    rows = write_logs(path, (simulate_log(BANDIT, "ucb1", 50, replicate=r) for r in (3, 1)))
    read = arrow_csv.read_csv if path.suffix == ".csv" else parquet.read_table
    assert rows == 100
    assert read(path)["replicate"].to_pylist() == [3] * 50 + [1] * 50


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_a_file_that_is_not_finished_is_as_it_was(name: str, log: RunLog, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("before", encoding="utf-8")

    def broken() -> Iterator[RunLog]:
        yield log
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_logs(path, broken())
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def logged(**changes: Any) -> Callable[[], object]:
    settings = {"bandit": BANDIT, "policy": "ucb1", "horizon": 10} | changes
    return lambda: simulate_log(**settings)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (logged(bandit=[0.4]), "bandit must be an AffinityBandit, got [0.4]"),
        (logged(policy=["ucb1"]), "policy must be a policy or its name, got ['ucb1']"),
        (logged(policy="ucb2"), "did you mean 'ucb1'?"),
        (logged(horizon=0), "horizon must be a whole number from 1"),
        (logged(horizon="10"), "horizon must be a whole number from 1"),
        (logged(seed=-1), "seed must be a whole number from 0"),
        (logged(replicate=-1), "replicate must be a whole number from 0"),
        (logged(replicate=2**63), "replicate must be a whole number from 0"),
        (logged(unchosen=1), "unchosen must be true or false, got 1"),
    ],
)
def test_refuses_what_is_wrong(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        wrong()
    assert says in str(refusal.value)


def test_refuses_a_log_beyond_memory() -> None:
    with pytest.raises(NotSupported, match=r"^a log of 1,000,000,000 pulls does not fit in 8 GiB"):
        simulate_log(BANDIT, "ucb1", 10**9)


def test_refuses_files_of_other_kinds_and_logs_of_other_columns(
    log: RunLog, panel_log: RunLog, tmp_path: Path
) -> None:
    for path, says in (
        ("log.txt", "path must be a file that ends in .csv or .parquet"),
        (tmp_path / "nowhere" / "log.csv", "path must be in a directory"),
        (3, "path must be a file that ends in .csv or .parquet, got 3"),
    ):
        with pytest.raises(InvalidInput, match=says):
            write_logs(path, [log])  # type: ignore[arg-type]
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match="path must be a file, not a directory"):
        log.write(tmp_path / "folder.csv")
    for logs, says in (
        ([], "logs must be at least one log"),
        ([log, panel_log], r"logs must be of the same columns \(replicate, time"),
        ([3], "logs must be logs of `simulate_log`, got 3"),
    ):
        with pytest.raises(InvalidInput, match=says):
            write_logs(tmp_path / "log.csv", logs)  # type: ignore[arg-type]
    assert not (tmp_path / "log.csv").exists()


def test_parquet_needs_an_extra_and_csv_does_not(log: RunLog, tmp_path: Path) -> None:
    with mock.patch("affinity_bandits.base.errors.find_spec", return_value=None):
        with pytest.raises(MissingExtra, match=r'pip install "\.\[experiments\]"'):
            log.write(tmp_path / "log.parquet")
        with pytest.raises(MissingExtra):
            log.to_arrow()
        log.write(tmp_path / "log.csv")
    assert (tmp_path / "log.csv").exists()
