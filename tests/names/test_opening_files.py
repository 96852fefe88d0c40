"""Opening a file of somebody else's runs no code that it names; running it asks first."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Result, simulate
from affinity_bandits.base.errors import AffinityError, InvalidInput, NotSupported
from affinity_bandits.base.plan_format import FORMAT
from affinity_bandits.experiments import SerialExecutor, Store, Sweep, cell_summaries, run_cells
from affinity_bandits.experiments.summaries import OWN_CODE
from affinity_bandits.model.bias import BIASES
from affinity_bandits.model.noise import NOISES
from affinity_bandits.planning import Assumptions
from affinity_bandits.planning.files import read_plan
from affinity_bandits.policies import POLICIES
from tests.base.test_registry import CODE
from tests.cli.inside import Done, inside

MODULE = "planted_code"
CONFIG = """
[bandit]
true_means = [0.4, 0.6]
{bandit}
[run]
horizon = 50
replicates = 2
{run}
"""
NAMING = {
    "a policy": ("", f'policies = ["{MODULE}:Least"]'),
    "a policy in a list": ("", f'policies = ["uniform", {{name = "{MODULE}:Least", first = 1}}]'),
    "a labeled policy": ("", f'policies = {{x = {{name = "{MODULE}:Least"}}}}'),
    "a bias": (f'bias = "{MODULE}:Ramp"', ""),
    "a bias in a bias": (f'bias = {{name = "clipped", base = {{name = "{MODULE}:Ramp"}}}}', ""),
    "a noise": (f'noise = "{MODULE}:Around"', ""),
    "a bias told to a policy": (
        "",
        f'policies = [{{name = "weighted-ucb", bias = "{MODULE}:Ramp"}}]',
    ),
}


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that leaves a file behind when it is imported: the path of that file."""
    trace = tmp_path / "it ran"
    shutil.copy(CODE, tmp_path / f"{MODULE}.py")
    with (tmp_path / f"{MODULE}.py").open("a", encoding="utf-8") as file:
        file.write(f"\nopen({str(trace)!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("affinity_bandits.base.registry._folders", [])
    with patch.dict(POLICIES), patch.dict(BIASES), patch.dict(NOISES):
        yield trace
    forget()


def forget() -> None:
    """Let the next name of the module import it again, as in another process."""
    sys.modules.pop(MODULE, None)
    for registry in (POLICIES, BIASES, NOISES):
        for known in (registry, registry.unlisted):
            for name in [name for name, cls in known.items() if cls.__module__ == MODULE]:
                del known[name]


def affinity(*words: object) -> Done:
    return inside(words, {})


def finished(*words: object) -> str:
    done = affinity(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("what", NAMING)
def test_a_run_imports_no_code_that_its_file_names(what: str, planted: Path) -> None:
    bandit, run = NAMING[what]
    Path("run.toml").write_text(CONFIG.format(bandit=bandit, run=run), encoding="utf-8")
    done = affinity("simulate", "run.toml")
    assert done.returncode == 2
    assert "(to import code of the file, add --own-code), got 'planted_code:" in done.stderr
    assert not planted.exists()


@pytest.mark.slow
def test_code_of_a_file_runs_if_the_user_says_so(planted: Path) -> None:
    """The control: the planted module is one that would have been imported."""
    text = CONFIG.format(bandit="", run=f'policies = ["{MODULE}:Agent"]')
    Path("run.toml").write_text(text, encoding="utf-8")
    assert "Agent" in finished("simulate", "run.toml", "--own-code")
    assert planted.exists()


@pytest.mark.slow
def test_code_that_the_user_types_needs_no_flag(planted: Path) -> None:
    Path("run.toml").write_text(CONFIG.format(bandit="", run=""), encoding="utf-8")
    assert "Agent" in finished("simulate", "run.toml", "--policy", f"{MODULE}:Agent:epsilon=0.2")
    assert planted.exists()


def test_typing_one_name_does_not_let_the_file_name_another(planted: Path) -> None:
    text = CONFIG.format(bandit=f'bias = "{MODULE}:Ramp"', run="")
    Path("run.toml").write_text(text, encoding="utf-8")
    done = affinity("simulate", "run.toml", "--policy", "json:JSONDecoder")
    assert "got 'planted_code:Ramp'" in done.stderr
    assert not planted.exists()


@pytest.mark.parametrize("what", NAMING)
def test_a_plan_names_no_code_even_if_the_user_lets_files_do_so(what: str, planted: Path) -> None:
    bandit, run = NAMING[what]
    text = CONFIG.format(bandit=bandit, run=run) + f"[plan]\nformat = {FORMAT}\n"
    Path("plan.toml").write_text(text, encoding="utf-8")
    done = affinity("simulate", "plan.toml", "--own-code")
    assert done.returncode == 2
    assert "(a plan cannot name code), got 'planted_code:" in done.stderr
    assert not planted.exists()


def test_a_plan_that_is_read_imports_nothing(planted: Path) -> None:
    assumptions = Assumptions(groups=2, horizon=300, smallest_difference=0.5).to_json()
    tables = "".join(f"{key} = {json.dumps(value)}\n" for key, value in assumptions.items())
    policy = f'[run.policies.plan]\nname = "{MODULE}:Least"\n'
    text = f"[assumptions]\n{tables}{policy}[plan]\nformat = {FORMAT}\n[end]\nwhole = true\n"
    Path("plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"policy must be one of .* got 'planted_code:Least'"):
        read_plan(Path("plan.toml"))
    assert not planted.exists()


SWEEP = f"""
replicates = 2
[axes]
policy = ["uniform", "{MODULE}:Agent", {{name = "{MODULE}:Agent", epsilon = 0.5}}]
[fixed]
"bandit.true_means" = [0.4, 0.6]
horizon = 50
"""
COMMANDS = {
    "status": (),
    "show": (),
    "export": ("cells.csv",),
}


@pytest.mark.slow
def test_a_sweep_is_looked_at_without_its_code(planted: Path) -> None:
    """Whoever runs it says so; whoever looks at it later sees the cells that were run."""
    Path("s.toml").write_text(SWEEP, encoding="utf-8")
    done = affinity("sweep", "run", "s.toml", "--executor", "serial")
    assert done.returncode == 2
    assert "names code (planted_code:Agent); to import code that a file names" in done.stderr
    assert not planted.exists()
    assert not Path("s.store").exists()

    ran = finished("sweep", "run", "s.toml", "--executor", "serial", "--own-code")
    assert "3 cells: 0 replicates were there, 6 were run" in ran
    assert planted.exists()

    planted.unlink()
    forget()
    Path(f"{MODULE}.py").unlink()
    for command, more in COMMANDS.items():
        output = finished("sweep", command, "s.toml", *more)
        assert "planted_code:Agent is not imported; its cells are as they were last run" in output
        assert not planted.exists(), command
    assert "6 of 6 replicates (100%)" in finished("sweep", "status", "s.toml")
    rows = Path("cells.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[2] for row in rows] == ["replicates", "2", "2", "2"]
    assert [row.endswith(",") for row in rows[1:]] == [True, False, False]  # the digest of the code


@pytest.mark.slow
def test_a_sweep_with_code_that_was_never_run_counts_as_not_run(planted: Path) -> None:
    Path("s.toml").write_text(SWEEP, encoding="utf-8")
    finished("sweep", "run", "s.toml", "--executor", "serial", "--own-code")
    for path in Path("s.store", OWN_CODE).iterdir():
        path.write_text('["../../../etc"]', encoding="utf-8")  # no list of this sweep's cells
    planted.unlink()
    forget()
    output = finished("sweep", "status", "s.toml")
    assert "its cells count as not run" in output
    assert "2 of 6 replicates (33.3%)" in output  # those of the policy of this package
    assert not planted.exists()


def test_a_sweep_read_in_python_imports_nothing_either(planted: Path, tmp_path: Path) -> None:
    Path("s.toml").write_text(SWEEP, encoding="utf-8")
    sweep = Sweep.from_toml("s.toml")
    assert sweep.unimported == (f"{MODULE}:Agent",)
    assert [cell.replicates for cell in cell_summaries(sweep, Store(tmp_path / "none"))] == [0] * 3
    assert [isinstance(one.built, AffinityError) for one in sweep.planned()] == [False, True, True]
    with pytest.raises(NotSupported, match="names code"):
        run_cells(sweep, Store(tmp_path / "none"), SerialExecutor())
    assert not planted.exists()
    assert Sweep.from_toml("s.toml", own_code=True).unimported == ()
    assert planted.exists()


@pytest.mark.slow
def test_results_and_stores_are_read_without_their_code(planted: Path) -> None:
    """A result names its bias by the class's own name, and somebody may write another there."""
    text = CONFIG.format(bandit=f'bias = "{MODULE}:Ramp"', run='policies = ["uniform"]')
    Path("run.toml").write_text(text, encoding="utf-8")
    Path("s.toml").write_text(SWEEP, encoding="utf-8")
    finished("simulate", "run.toml", "--own-code", "--save", "result.npz")
    finished("sweep", "run", "s.toml", "--executor", "serial", "--own-code")
    planted.unlink()
    forget()
    with pytest.raises(AffinityError):
        Result.load("result.npz")
    store = Store("s.store")
    assert len([store.result(kept) for kept in store.kept()]) == 3
    assert not planted.exists()


class Planted:
    """An object whose pickle makes a folder when it is loaded."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("it ran",)


@pytest.mark.slow
def test_a_result_with_a_pickle_in_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: numpy itself would run it if it were let."""
    monkeypatch.chdir(tmp_path)
    simulate(AffinityBandit([0.4, 0.6]), "uniform", 50, 2, progress=False).save("result.npz")
    with np.load("result.npz") as data:
        arrays = dict(data) | {"pulls": np.array([Planted()], dtype=object)}
    np.savez("result.npz", **arrays)
    with pytest.raises(InvalidInput, match="path must be a result saved by this package"):
        Result.load("result.npz")
    assert not Path("it ran").exists()
    with np.load("result.npz", allow_pickle=True) as data:
        assert data["pulls"].shape == (1,)
    assert Path("it ran").exists()
