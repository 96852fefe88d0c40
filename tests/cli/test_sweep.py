"""`affinity sweep` in a process of its own: runs, goes on, tells, draws, exports, refuses."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from affinity_bandits.experiments import Experiment, Store, Sweep, run_cells
from tests.cli.test_simulate import affinity, refused, succeeded
from tests.experiments.driver import EachShard

pytestmark = pytest.mark.slow  # each test starts processes or compiles

SPEC = """
replicates = 6
shard_size = 3

[axes]
policy = ["uniform", "elimination"]
horizon = [100, 1000]

[fixed]
"bandit.true_means" = [0.4, 0.6]
"""
SERIAL = ("--executor", "serial")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def shards(spec: Path) -> list[Path]:
    return sorted(spec.with_suffix(".store").glob("runs/*.parquet"))


def run_apart(spec: Path) -> None:
    """Run a sweep so that each shard has a file of its own."""
    run_cells(Sweep.from_toml(spec), Store(spec.with_suffix(".store")), EachShard())


def test_runs_goes_on_after_a_loss_and_gives_the_same(spec: Path) -> None:
    output = succeeded("sweep", "run", spec, *SERIAL)
    assert "4 cells: 0 replicates were there, 24 were run" in output
    whole = Store(spec.with_suffix(".store")).content_hash()
    (file,) = shards(spec)
    file.unlink()
    run_apart(spec)
    assert len(shards(spec)) == 8
    shards(spec)[0].unlink()
    assert "21 replicates were there, 3 were run" in succeeded("sweep", "run", spec, *SERIAL)
    assert Store(spec.with_suffix(".store")).content_hash() == whole


def test_processes_give_what_this_process_gives(spec: Path, tmp_path: Path) -> None:
    done = affinity("sweep", "run", spec, "--workers", "2", "--store", tmp_path / "two")
    assert done.returncode == 0, done.stderr  # on a busy machine it also says how far it is
    succeeded("sweep", "run", spec, *SERIAL)
    hashes = {Store(path).content_hash() for path in (tmp_path / "two", spec.with_suffix(".store"))}
    assert len(hashes) == 1


def test_damage_and_changes_are_said(spec: Path) -> None:
    run_apart(spec)
    succeeded("sweep", "run", spec, *SERIAL)
    damaged = shards(spec)[0]
    damaged.write_bytes(b"nothing")
    spec.write_text(SPEC.replace("replicates = 6", "replicates = 8"), encoding="utf-8")
    output = succeeded("sweep", "run", spec, *SERIAL)
    for words in ("differs in replicates", "moved to", damaged.name, "21 replicates were there"):
        assert words in output


def test_failures_are_named_and_the_rest_is_run(spec: Path) -> None:
    text = SPEC.replace("[axes]", '[axes]\n"bandit.initial_pulls" = [[1, 1], [1, 1, 1]]')
    spec.write_text(text, encoding="utf-8")
    done = affinity("sweep", "run", spec, *SERIAL)
    assert done.returncode == 1
    assert "24 were run" in done.stdout
    assert "4 shards failed" in done.stdout
    assert done.stdout.count("initial_pulls must be") == 4
    output = succeeded("sweep", "status", spec)
    assert "24 of 48 replicates (50%)" in output
    assert "4 shards failed" in output


def test_status_counts_value_by_value(spec: Path) -> None:
    run_apart(spec)
    shards(spec)[0].unlink()
    output = succeeded("sweep", "status", spec)
    assert "21 of 24 replicates (87.5%) of 4 cells" in output
    rows = [line.split() for line in output.splitlines()[1:5]]
    assert {row[0] for row in rows} == {"policy", "horizon"}
    assert sorted(int(row[2]) for row in rows) == [9, 9, 12, 12]


def test_shows_a_finished_and_a_half_finished_sweep(spec: Path, tmp_path: Path) -> None:
    sweep = Sweep.from_toml(spec)
    *most, last = [planned.cell() for planned in sweep.planned()]
    store = Store(spec.with_suffix(".store"))
    for cells in (most, [last]):
        before = shards(spec)
        run_cells(Experiment(cells, 6), store)
    picture = tmp_path / "small-regret.png"
    assert f"picture: {picture}" in succeeded("sweep", "show", spec)
    assert picture.read_bytes().startswith(b"\x89PNG")
    (lost,) = {*shards(spec)} - {*before}
    lost.unlink()
    out = tmp_path / "pictures"
    out.mkdir()
    output = succeeded("sweep", "show", spec, "--out", out, "--value", "wrong")
    assert "1 of 4 cells are not run yet" in output
    assert (out / "small-wrong.png").exists()
    assert "policy never decides" in succeeded("sweep", "show", spec, "--value", "undecided")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_exports_a_row_for_each_cell(spec: Path, tmp_path: Path, ending: str) -> None:
    succeeded("sweep", "run", spec, *SERIAL)
    table = tmp_path / f"cells.{ending}"
    assert "4 rows" in succeeded("sweep", "export", spec, table)
    if ending == "csv":
        with table.open(encoding="utf-8") as file:
            rows: list[dict[str, object]] = list(csv.DictReader(file))
    else:
        from pyarrow import parquet

        rows = parquet.read_table(table).to_pylist()
    assert [(row["policy"], int(str(row["horizon"]))) for row in rows] == [
        ("uniform", 100),
        ("uniform", 1000),
        ("elimination", 100),
        ("elimination", 1000),
    ]
    assert {int(str(row["replicates"])) for row in rows} == {6}
    # In turn, half of all pulls go to the worse arm, at a gap of 0.2.
    assert float(str(rows[1]["regret"])) == pytest.approx(100.0)


def test_an_interrupt_is_said_and_gone_on_from(spec: Path) -> None:
    # Some 20 s of work, so that it is not over before the workers' time to finish is.
    long = SPEC.replace('["uniform", "elimination"]', '["ucb1"]').replace(
        "[100, 1000]", "[500_000]"
    )
    long = long.replace("shard_size = 3", "shard_size = 1")
    spec.write_text(long.replace("replicates = 6", "replicates = 2000"), encoding="utf-8")
    command = "from affinity_bandits.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", command, "sweep", "run", str(spec), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as on a terminal, all of its processes get the signal
    ) as process:
        until = time.monotonic() + 100.0
        while not shards(spec) and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    said = "affinity: interrupted; the same command goes on where this one stopped"
    assert errors.splitlines()[-1] == said
    assert "Traceback" not in errors
    (kept,) = Store(spec.with_suffix(".store")).kept()
    there = Store(spec.with_suffix(".store")).result(kept).replicates.tolist()
    assert 0 < len(there) < 2000
    # Two runs were under way in different places; the gap between them is filled.
    wanted = max(there) + 3
    spec.write_text(long.replace("replicates = 6", f"replicates = {wanted}"), encoding="utf-8")
    output = affinity("sweep", "run", spec, *SERIAL).stdout
    assert f"{len(there):,} replicates were there, {wanted - len(there):,} were run" in output


# What is wrong.


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("replicates = 6", "replicates = 0", "replicates | from 1 | got 0"),
        ("replicates = 6", "replicats = 6", "key of the sweep | did you mean 'replicates'?"),
        ("[axes]", "[axs]", "axs | did you mean 'axes'?"),
        ("[axes]", "[axes", "TOML"),
        ("horizon =", "horizn =", "horizn | did you mean 'horizon'?"),
        ("[100, 1000]", "[]", "axes.horizon | at least one"),
        ("[100, 1000]", "[0]", "horizon | from 1 | got 0"),
        ('"uniform"', '"unifrm"', "policy | 'unifrm' | did you mean 'uniform'?"),
        ("[fixed]", '[fixed]\n"bandit.mechanism" = 2020-01-01', "bandit.mechanism | date"),
        ("[fixed]", '[fixed]\n"bandit.mechanism" = "scald"', "did you mean 'scaled'?"),
        ("[0.4, 0.6]", "[nan, 0.6]", "bandit.true_means | nan"),
    ],
)
def test_refuses_a_wrong_spec_in_one_line(spec: Path, old: str, new: str, says: str) -> None:
    spec.write_text(SPEC.replace(old, new), encoding="utf-8")
    refused("sweep", "run", spec, says=says)
    assert not spec.with_suffix(".store").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "--executor", "proceses"), "executor | did you mean 'processes'?"),
        (("run", "--address", "auto"), "address | --executor is ray | 'auto'"),
        (("run", "--workers", "0"), "workers | from 1 | got 0"),
        (("run", *SERIAL, "--workers", "2"), "workers | serial | got 2"),
        (("run", "--store", "foo://x"), "store | URI | 'foo://x'"),
        (("status",), "store | 'affinity sweep run' | small.store"),
        (("show",), "store | 'affinity sweep run' | small.store"),
    ],
)
def test_refuses_a_wrong_option_in_one_line(
    spec: Path, arguments: tuple[str, ...], says: str
) -> None:
    command, *options = arguments
    refused("sweep", command, spec, *options, says=says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show", "--value", "regrets"), "value must be one of"),
        (("show", "--x", "bias"), "x must be one of"),
        (("show", "--x", "horizon", "--y", "horizon"), "y must be another axis than x"),
        (("show", "--out", "nowhere"), "out must be a directory"),
        (("show",), "finished cell"),
        (("export", "a.txt"), ".csv or .parquet"),
        (("export", "nowhere/a.csv"), "in a directory"),
    ],
)
def test_refuses_what_it_cannot_draw_or_export(
    spec: Path, arguments: tuple[str, ...], says: str
) -> None:
    spec.with_suffix(".store").mkdir()
    command, *options = arguments
    refused("sweep", command, spec, *options, says=says)


def test_the_guides_picture_is_of_a_larger_sweep_of_the_same_kind() -> None:
    docs = Path(__file__).parents[2] / "docs"
    drawn = Sweep.from_toml(docs / "heads.toml")
    assert len(drawn) == 72
    guide = (docs / "study" / "sweeps.md").read_text(encoding="utf-8")
    assert "72 cells with 100 runs of 10^6 choices" in guide
    shown, *_ = re.findall(r"```toml\n(.*?)```", guide, flags=re.DOTALL)
    small = tomllib.loads(shown)
    large = tomllib.loads((docs / "heads.toml").read_text(encoding="utf-8"))
    for axis, values in small["axes"].items():
        assert [value for value in large["axes"][axis] if value in values] == values
