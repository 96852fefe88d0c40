"""Policies, biases and noises of users are found by name; mistakes are reported in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Power,
    Result,
    bias_from_json,
    noise_from_json,
    simulate,
)
from affinity_bandits.base.errors import AffinityError, InvalidInput, UnknownName
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.policies import POLICIES, UCB1
from tests.names.code_of_a_user import Agent
from tests.support.environments import ROOT
from tests.support.quiet import quiet

CODE = ROOT / "tests" / "names" / "code_of_a_user.py"
RUN = ("--means", "0.4,0.6", "--horizon", "200", "--replicates", "2")
SWEEP = """
replicates = 2
[axes]
policy = ["mine:Least", "mine:Agent", {name = "mine:Agent", epsilon = 0.5}]
"bandit.bias" = ["mine:Ramp", {name = "clipped", base = {name = "mine:Ramp", slope = 3}, low = 0.1}]
[fixed]
"bandit.noise" = "mine:Around"
"bandit.true_means" = [0.4, 0.6]
horizon = 50
"""
BROKEN = {
    "imports_nothing": "import there_is_no_such_module\n",
    "divides": "\nx = 1 / 0\n",
    "is_no_python": "def f(:\n",
    "leaves": "import sys\n\nsys.exit(3)\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(CODE, tmp_path / "mine.py")
    for name, text in BROKEN.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def affinity(folder: Path, *words: str, compiled: bool = False) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [Path(sys.executable).with_name("affinity"), *words],
        cwd=folder,
        env=os.environ | {"NUMBA_DISABLE_JIT": "0" if compiled else "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return quiet(done)


@pytest.mark.slow
def test_classes_of_the_current_folder_run_by_the_command(folder: Path) -> None:
    words = ("--policy", "mine:Least", "--policy", "mine:Agent:epsilon=0.3")
    models = ("--bias", "mine:Ramp:slope=3", "--noise", "mine:Around")
    done = affinity(folder, "simulate", *RUN, *words, *models, compiled=True)
    assert done.returncode == 0, done.stderr
    assert "least" in done.stdout
    assert "Agent(epsilon=0.3)" in done.stdout
    assert "f(x) = min(1, 3 x), uniform around the mean" in done.stdout


@pytest.mark.slow
@pytest.mark.one_at_a_time("ray")
@pytest.mark.nightly_but("processes")
@pytest.mark.parametrize("executor", ["processes", "ray"])
def test_a_sweep_sends_them_to_its_workers(folder: Path, executor: str) -> None:
    (folder / "s.toml").write_text(SWEEP, encoding="utf-8")
    run = ("sweep", "run", "s.toml", "--own-code")
    done = affinity(folder, *run, "--executor", executor, "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 were run" in done.stdout
    again = affinity(folder, *run, "--executor", "serial")
    assert "12 replicates were there, 0 were run" in again.stdout  # whoever ran it, the same cells


WRONG = {
    "there_is_none:A": "there is no module 'there_is_none'",
    "there_is_none.inside:A": "there is no module 'there_is_none'",
    "imports_nothing:A": "ModuleNotFoundError: No module named 'there_is_no_such_module'",
    "divides:A": "ZeroDivisionError: division by zero (divides.py, line 2)",
    "is_no_python:A": "SyntaxError: invalid syntax (is_no_python.py, line 1)",
    "leaves:A": "SystemExit: 3 (leaves.py, line 3)",
    "mine:Leest": "has no 'Leest' (did you mean 'Least'?)",
    "mine:ramp": "a class of step or round policies",
    "mine:Ramp": "a class of step or round policies",
    "ucb1:exploration": "on the command line, elimination:offset=3",
    "a b:c": "a name, module:Class, or a table",
    "mine:Agent:eps=1": "names that Agent takes (epsilon)",
    "mine:Least:second=1": "parameter of policy least must be one of first",
}


def test_settings_are_a_table_in_python() -> None:
    bias = {"name": "clipped", "base": "power", "low": 0.1}
    bandit = AffinityBandit([0.4, 0.6], bias=bias, noise="beta")
    assert bandit.bias == Clipped(Power(1.0), low=0.1)
    policies = [{"name": "elimination", "offset": 3}, "uniform"]
    result = simulate(bandit, policies, 20, 2, engine="python")
    assert result.runs[0].description["schedule"] == {"name": "published", "offset": 3.0}
    assert result.labels[1] == "uniform"
    with pytest.raises(InvalidInput, match=r"a table with a name and settings, such as \{'name'"):
        simulate(bandit, "elimination:offset=3", 20, 2)
    with pytest.raises(UnknownName):  # stored names import nothing
        policy_from_json("elimination:offset=3")


def test_a_class_is_no_policy() -> None:
    for given, instead in ((UCB1, r"UCB1\(\)"), (Agent, r"InPython\(Agent\)")):
        with pytest.raises(InvalidInput, match=f"not a class: {instead}, got"):
            simulate(AffinityBandit([0.4, 0.6]), given, 20, 2)  # type: ignore[arg-type]


def test_each_cause_has_its_own_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from affinity_bandits.base.registry import parse_settings

    monkeypatch.syspath_prepend(folder)
    for name, words in WRONG.items():
        # The catalogue is left as it was: a class may be added before its settings are refused.
        with patch.dict(POLICIES), patch.dict(sys.modules), pytest.raises(InvalidInput) as said:
            policy_from_json(parse_settings("policy", name), imports=True)
        assert words in str(said.value)


@pytest.mark.parametrize("place", ["there_is_none:A", "antigravity:A"])
def test_what_is_read_back_imports_nothing(place: str) -> None:
    """A description in somebody else's file does not choose what is imported."""
    for read in (policy_from_json, bias_from_json, noise_from_json):
        with pytest.raises(UnknownName):
            read(place)
    with pytest.raises(UnknownName):
        AffinityBandit.from_json({"true_means": [0.5], "bias": {"name": place}})
    assert place.partition(":")[0] not in sys.modules


def test_a_result_that_names_a_module_imports_nothing(tmp_path: Path) -> None:
    simulate(AffinityBandit([0.4, 0.6]), "uniform", 10, 1, engine="python").save(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz") as data:
        parts = dict(data)
    header = json.loads(str(parts["header"]))
    header["bandit"]["bias"] = {"name": "antigravity:A"}
    parts["header"] = np.array(json.dumps(header))
    np.savez(tmp_path / "r.npz", **parts)
    with pytest.raises(AffinityError, match="bias must be one of"):
        Result.load(tmp_path / "r.npz")
    assert "antigravity" not in sys.modules


@pytest.mark.slow
def test_a_file_in_the_current_folder_shadows_nothing_unless_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("raise RuntimeError('not this one')\n", encoding="utf-8")
    assert affinity(tmp_path, "simulate", *RUN, "--policy", "uniform").returncode == 0


def test_an_unknown_name_of_a_long_list_is_answered_with_the_nearest_three() -> None:
    with pytest.raises(UnknownName) as refused:
        policy_from_json("panels-elimination")
    assert str(refused.value) == (
        "did you mean 'panel-elimination'? policy must be one of 25 names, of which the closest "
        "are panel-elimination, elimination, recusal-elimination ('affinity policies' lists "
        "all), got 'panels-elimination'"
    )
    with pytest.raises(UnknownName, match=r"one of 25 names, of which the closest are \S+, \S+, "):
        policy_from_json("a name that is like no other")
    # Of a short list all are told.
    with pytest.raises(UnknownName, match=r"one of bernoulli, .*ordinal"):
        noise_from_json("bernouly")
