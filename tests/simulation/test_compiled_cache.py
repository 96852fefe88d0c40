"""Machine code on disk never depends on what somebody else's module defines.

Every test runs processes of its own on a cache of its own, with modules in folders of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, simulate

pytestmark = pytest.mark.slow

LEAST = '''
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepPolicy


class LeastState(NamedTuple):
    pulls: IntArray
    other: IntArray


@dataclass(frozen=True)
class LeastPulled(StepPolicy):
    """The arm pulled least."""

    name: ClassVar[str] = "least-pulled"

    def start(self, arms, horizon):
        other = counts(arms)
        other[0] = 10**6  # whoever takes it for the pulls never pulls arm 0
        return LeastState(pulls=counts(arms), other=other)

    @staticmethod
    def select(state, rng):
        best = 0
        for arm in range(len(state.pulls)):
            if state.pulls[arm] < state.pulls[best]:
                best = arm
        return best

    @staticmethod
    def update(state, arm, feedback):
        state.pulls[arm] += 1
'''
OWN = """
import {module} as module
from affinity_bandits import AffinityBandit, simulate
result = simulate(AffinityBandit([0.4, 0.6]), module.LeastPulled(), 41, 2, progress=False)
print(result.pulls[0, :, -1].tolist())
"""
BUILT_IN = """
from affinity_bandits import AffinityBandit, simulate
for name in {names}:
    result = simulate(AffinityBandit([0.4, 0.6]), name, 100, 2, progress=False)
    print(name, result.pulls[0, :, -1].tolist())
"""
COUNTED = """
import numba.core.event as events
with events.install_recorder("numba:compile") as recorder:
    exec({program!r})
print("compiled", sum(1 for _, event in recorder.buffer if event.is_start))
"""
RIGHT = "[[21, 20], [21, 20]]"


class Machine:
    """Processes that share a cache."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache"

    def folder(self, name: str, files: dict[str, str] | None = None) -> Path:
        made = self.root / name
        made.mkdir(exist_ok=True)
        for file, text in (files or {}).items():
            (made / f"{file}.py").write_text(text, encoding="utf-8")
        return made

    def start(self, folder: Path, program: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=folder,
            env={**os.environ, "NUMBA_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, program: str) -> list[str]:
        process = self.start(folder, program)
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert err == ""
        return out.splitlines()

    def own(self, folder: Path, module: str = "least") -> str:
        (line,) = self.run(folder, OWN.format(module=module))
        return line

    def files(self, ending: str) -> list[Path]:
        return sorted(self.cache.rglob(f"*.{ending}"))


@pytest.fixture(scope="module")
def after_a_user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that was empty before a user's policy was run, from a folder of that user's."""
    first = Machine(tmp_path_factory.mktemp("user"))
    assert first.own(first.folder("mine", {"least": LEAST})) == RIGHT
    return first.cache


@pytest.fixture
def machine(tmp_path: Path, after_a_user: Path) -> Machine:
    made = Machine(tmp_path)
    shutil.copytree(after_a_user, made.cache)
    return made


def test_built_in_policies_run_after_a_users_module_is_gone(machine: Machine) -> None:
    """A kernel that policies inherit is compiled for the user's state first."""
    elsewhere = machine.folder("elsewhere")
    names = ["kl-ucb", "uniform"]
    here = [simulate(AffinityBandit([0.4, 0.6]), name, 100, 2, progress=False) for name in names]
    expected = [
        f"{name} {result.pulls[0, :, -1].tolist()}"
        for name, result in zip(names, here, strict=True)
    ]
    assert machine.run(elsewhere, BUILT_IN.format(names=names)) == expected


@pytest.mark.nightly_but("retyped and used", "reordered")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LeastState", "RenamedState"),
        (
            "    pulls: IntArray\n    other: IntArray\n",
            "    other: IntArray\n    pulls: IntArray\n",
        ),
        ("    other: IntArray\n", "    other: IntArray\n    third: IntArray = counts(3)\n"),
        ("    other: IntArray\n", ""),
        ("other = counts(arms)", "other = reals(arms)"),
        ("pulls=counts(arms)", "pulls=reals(arms)"),
    ],
    ids=["renamed", "reordered", "added", "removed", "retyped", "retyped and used"],
)
def test_a_state_class_may_change_in_place(machine: Machine, old: str, new: str) -> None:
    """With the fields in another order, code of the old order would read the wrong array."""
    folder = machine.folder("mine", {"least": LEAST})
    assert machine.own(folder) == RIGHT
    changed = LEAST.replace(old, new)
    if new == "":
        changed = changed.replace(", other=other", "")
    assert changed != LEAST
    machine.folder("mine", {"least": changed})
    assert machine.own(folder) == RIGHT


def test_a_module_may_be_renamed(machine: Machine) -> None:
    assert machine.own(machine.folder("mine", {"least": LEAST})) == RIGHT
    (machine.root / "mine" / "least.py").unlink()
    assert machine.own(machine.folder("mine", {"fewest": LEAST}), "fewest") == RIGHT


def test_two_users_may_have_modules_of_one_name(machine: Machine) -> None:
    most = LEAST.replace("state.pulls[arm] <", "state.pulls[arm] >")
    swapped = LEAST.replace(
        "    pulls: IntArray\n    other: IntArray\n", "    other: IntArray\n    pulls: IntArray\n"
    )
    one = machine.folder("one", {"least": LEAST})
    two = machine.folder("two", {"least": most})
    three = machine.folder("three", {"least": swapped})
    for _ in range(2):
        assert machine.own(one) == RIGHT
        assert machine.own(two) == "[[41, 0], [41, 0]]"
        assert machine.own(three) == RIGHT


def test_a_helper_may_change_in_another_module(machine: Machine) -> None:
    """The file of the kernel stays as it is."""
    text = LEAST.replace("if state.pulls[arm] < state", "if below(state.pulls[arm], state").replace(
        "[best]:", "[best]):"
    )
    text = "from helper import below\n" + text
    helper = "SHIFT = 0\n\n\ndef below(a, b):\n    return a + SHIFT < b\n"
    folder = machine.folder("mine", {"least": text, "helper": helper})
    assert machine.own(folder) == RIGHT
    machine.folder("mine", {"helper": helper.replace("SHIFT = 0", "SHIFT = 100")})
    assert machine.own(folder) == "[[41, 0], [41, 0]]"


def test_the_second_run_compiles_nothing(machine: Machine) -> None:
    folder = machine.folder("mine", {"least": LEAST})
    own = COUNTED.format(program=OWN.format(module="least"))
    built_in = COUNTED.format(program=BUILT_IN.format(names=["ucb1"]))
    assert machine.run(folder, own) == [RIGHT, "compiled 0"]  # wherever the module lies
    assert machine.run(folder, built_in)[-1] != "compiled 0"
    assert machine.run(folder, built_in)[-1] == "compiled 0"
    assert machine.run(folder, own)[-1] == "compiled 0"
    files = len(machine.files("nbc"))
    (folder / "script.py").write_text(LEAST, encoding="utf-8")
    script = "exec(compile(open('script.py').read(), 'script.py', 'exec'))\n" + own.replace(
        "import least as module", "import __main__ as module"
    )
    machine.run(folder, script)
    assert len(machine.files("nbc")) > files
    files = len(machine.files("nbc"))
    assert machine.run(folder, script)[-1] == "compiled 0"  # a script's own class, too
    assert len(machine.files("nbc")) == files  # and it does not grow from run to run


def cut_off(content: bytes) -> bytes:
    return content[: len(content) // 2]


def emptied(content: bytes) -> bytes:
    return b""


def with_turned_bits(content: bytes) -> bytes:
    middle = len(content) // 2
    turned = bytes(255 - byte for byte in content[middle : middle + 64])
    return content[:middle] + turned + content[middle + 64 :]


def something_else(content: bytes) -> bytes:
    return b"not what it was\n"


DAMAGES = (with_turned_bits, cut_off, emptied, something_else)


@pytest.mark.nightly_but("nbi")
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_files_are_compiled_anew(machine: Machine, ending: str) -> None:
    """Turned bits in the middle of a data file are in machine code: run, they end the process."""
    folder = machine.folder("mine", {"least": LEAST})
    own = COUNTED.format(program=OWN.format(module="least"))
    machine.run(folder, own)
    for number, file in enumerate(machine.files(ending)):
        damage = DAMAGES[number % len(DAMAGES)]
        file.write_bytes(damage(file.read_bytes()))
    found = machine.run(folder, own)
    assert found[0] == RIGHT
    assert found[1] != "compiled 0"
    assert machine.run(folder, own) == [RIGHT, "compiled 0"]


def test_files_that_changed_places_are_not_run(machine: Machine) -> None:
    """As after two processes gave their files the same number: the content is whole, and other."""
    folder = machine.folder("mine", {"least": LEAST})
    machine.own(folder)
    kept = machine.files("nbc")
    contents = [file.read_bytes() for file in kept]
    for file, content in zip(kept, contents[1:] + contents[:1], strict=True):
        file.write_bytes(content)
    assert machine.own(folder) == RIGHT


def test_processes_at_the_same_time_on_an_empty_cache(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    one = machine.folder("one", {"least": LEAST})
    two = machine.folder("two", {"least": LEAST.replace("arm] <", "arm] >")})
    running = [machine.start(folder, OWN.format(module="least")) for folder in (one, two, one)]
    outs = [process.communicate() for process in running]
    assert [out.strip() for out, _ in outs] == [RIGHT, "[[41, 0], [41, 0]]", RIGHT]
    assert machine.own(one) == RIGHT
    assert machine.own(two) == "[[41, 0], [41, 0]]"


def test_without_a_place_to_keep_it_everything_runs(machine: Machine) -> None:
    """No folder can be written: said once, and compiled anew. Files cannot be, either."""
    folder = machine.folder("mine", {"least": LEAST})
    program = """
import warnings
import numba.core.caching as caching
def refuse(self):
    raise OSError(30, "Read-only file system")
caching._CacheLocator.ensure_cache_path = refuse
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("default")
    exec({program!r})
print({{str(item.message)[:27] for item in caught}})
""".format(program=OWN.format(module="least"))
    assert machine.run(folder, program) == [RIGHT, "{'machine code cannot be kept'}"]
    full = """
import numba.core.caching as caching
def refuse(self, name, data):
    raise OSError(28, "No space left on device")
caching.IndexDataCacheFile._save_data = refuse
""" + OWN.format(module="least")
    assert machine.run(folder, full) == [RIGHT]
    assert machine.own(folder) == RIGHT


def test_with_the_users_class_in_the_files_the_module_is_missed(machine: Machine) -> None:
    """The negative control: as it was, with the state in the class that its author wrote."""
    naive = """
import affinity_bandits.simulation.run as run
import affinity_bandits.simulation.code_cache as code_cache
run.laid_out = lambda state: state
code_cache._Cache.load_overload = lambda self, *given: self._files.load_overload(*given)
"""
    mine = machine.folder("mine", {"least": LEAST})
    machine.run(mine, naive + OWN.format(module="least"))
    process = machine.start(machine.folder("elsewhere"), naive + BUILT_IN.format(names=["kl-ucb"]))
    _, err = process.communicate()
    assert "No module named 'least'" in err
    # Of the two guards, each is enough for this.
    assert machine.run(machine.folder("elsewhere"), BUILT_IN.format(names=["kl-ucb"]))
