"""Own code goes to other processes, or it is said once why it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.own_code import MINE, in_a_process, write
from tests.support.processes import run_python

NOTEBOOK = """
from affinity_bandits import AffinityBandit, Custom
from affinity_bandits.base.errors import AffinityError
from affinity_bandits.experiments import *
from affinity_bandits.policies import UCB1

class Mine(UCB1):
    name = "mine"

def own_function(share):
    return share

plain = AffinityBandit([0.4, 0.6])
own = AffinityBandit([0.4, 0.6], bias=Custom(own_function, 1.0, "own"))
nameless = AffinityBandit([0.4, 0.6], bias=Custom(lambda share: share, 1.0, "nameless"))
for cell in (Cell(plain, Mine(), 10), Cell(own, UCB1(), 10), Cell(nameless, UCB1(), 10)):
    try:
        run_experiment(Experiment([cell], 2), Store("store"), ProcessExecutor(2))
    except AffinityError as error:
        print(error)
"""


@pytest.mark.slow
def test_code_of_a_notebook_is_refused(tmp_path: Path) -> None:
    """`python -c` is as a notebook: `__main__` is in no file."""
    lines = in_a_process(tmp_path, NOTEBOOK).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith("module __main__ has no source file, so results of its code")
        assert line.endswith("define policies and functions in a file")


GUARDED = """
from affinity_bandits import AffinityBandit
from affinity_bandits.base.errors import AffinityError
from affinity_bandits.experiments import *
from affinity_bandits.policies import Uniform

if __name__ == "__main__":
    class Mine(Uniform):
        name = "mine"

    cell = Cell(AffinityBandit([0.4, 0.6]), Mine(), 10)
    try:
        run_experiment(Experiment([cell], 2), Store("store"), ProcessExecutor(2))
    except AffinityError as error:
        print(error)
"""


@pytest.mark.slow
def test_code_that_a_worker_cannot_find_is_said_once(tmp_path: Path) -> None:
    """A script's class that only the script's own run makes: known when a worker looks for it."""
    (tmp_path / "script.py").write_text(GUARDED, encoding="utf-8")
    done = run_python("script.py", folder=tmp_path)
    assert done.stderr == ""
    assert done.stdout.startswith("policy 'mine' cannot be sent to another process (AttributeErr")
    assert done.stdout.count("\n") == 1


SCRIPT = """
from mine import Mine
from affinity_bandits import AffinityBandit, Custom
from affinity_bandits.experiments import *

def own(share):
    return 0.5 * share

if __name__ == "__main__":
    cell = Cell(AffinityBandit([0.4, 0.6], bias=Custom(own, 1.0)), Mine(), 10)
    store = Store("store")
    for executor in (ProcessExecutor(2), ProcessExecutor(2), SerialExecutor()):
        print(run_cells(Experiment([cell], 4, 2), store, executor))
"""


@pytest.mark.slow
def test_code_of_a_script_and_its_modules_is_run_by_processes(tmp_path: Path) -> None:
    write(tmp_path, MINE)
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = run_python("script.py", folder=tmp_path)
    assert done.stderr == ""
    assert [line[: line.index(", errors")] for line in done.stdout.splitlines()] == [
        "Summary(found=0, run=4, failed=0",
        "Summary(found=4, run=0, failed=0",
        "Summary(found=4, run=0, failed=0",
    ]
