"""Compiled code rests on documented numba features, and its cache is of use and never in the way.

Tests of the cache run processes of their own on a cache of their own.
"""

from __future__ import annotations

import re
from pathlib import Path

import numba
import numpy as np
import pytest

import affinity_bandits
from affinity_bandits.kernels.compile import WITHOUT_WRAPPERS, compile_kernel, function_pointer
from tests.support.processes import run_python

SOURCE = Path(affinity_bandits.__file__).parent
EVENTS = "kernels/compile.py: from numba.core import event"
"""The one module of `numba.core` that numba's manual documents, as its event API."""
FEATURES = "kernels/pack.py: from llvmlite.binding import get_host_cpu_features"
"""In llvmlite's manual."""
PRIVATE = re.compile(r"numba\.core|llvmlite|(?:numba|compiler)\._|_nrt|overloads|_compiler\b")
LEAST = '''
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.contracts import StepPolicy
{imports}

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
            if below(state.pulls[arm], state.pulls[best]):
                best = arm
        return best

    @staticmethod
    def update(state, arm, feedback):
        state.pulls[arm] += 1
'''
BELOW = "SHIFT = 0\n\n\ndef below(a, b):\n    return a + SHIFT < b\n"
POLICY = LEAST.format(imports=BELOW)
RUN = """
from affinity_bandits import AffinityBandit, simulate
result = simulate(AffinityBandit([0.4, 0.6]), {policy}, 41, 2, progress=False)
print(result.pulls[0, :, -1].tolist())
"""
OWN = "import least\n" + RUN.format(policy="least.LeastPulled()")
DRAW = """
import numpy as np
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.simulation.draws import Stream, new_read, next_binomial
from affinity_bandits.simulation.environment import key_words
stream = Stream(key_words(0, "round"), np.uint64(0), new_read())
print(compile_kernel(next_binomial)(stream, 5, 1.0))
"""
FAIR, FIRST_ONLY = "[[21, 20], [21, 20]]\n", "[[41, 0], [41, 0]]\n"


def test_only_documented_features_of_numba_are_used() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if PRIVATE.search(line) and '"""' not in line and not line.lstrip().startswith("#")
    ]
    code = [line for line in found if "_nrt" not in line]
    assert [line.partition("  #")[0] for line in code] == [EVENTS, FEATURES]
    assert len([line for line in found if '"_nrt":' in line]) == 1


def doubled(x: float) -> float:
    return 2.0 * x


def with_array(size: int) -> float:
    return float(np.ones(size).sum())


def through(pointer: object, x: float) -> float:
    return pointer(x)  # type: ignore[operator,no-any-return]


def test_undocumented_options_do_what_they_did() -> None:
    """Without reference counts no array can be made."""
    assert compile_kernel(with_array, allocates=True)(3) == 3.0
    with pytest.raises(numba.errors.NumbaError):
        compile_kernel(with_array)(3)
    signature = numba.float64(numba.float64)
    with pytest.raises(KeyError):
        numba.njit(signature, no_such_option=True)(doubled)
    numba.njit(signature, **WITHOUT_WRAPPERS)(doubled)  # numba knows them


def test_a_kernel_is_called_through_a_pointer() -> None:
    pointer = function_pointer(doubled, lambda: numba.float64(numba.float64))
    assert compile_kernel(through)(pointer, 4.0) == 8.0
    with pytest.raises(numba.errors.NumbaError):
        function_pointer(doubled, lambda: numba.void(numba.types.unicode_type))


class Machine:
    """Processes that share a cache."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache"

    def run(self, program: str, policy: str = POLICY, folder: str = "mine", **env: str) -> str:
        made = self.root / folder
        made.mkdir(exist_ok=True)
        (made / "least.py").write_text(policy, encoding="utf-8")
        places = {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        done = run_python("-c", program, folder=made, **places | env)
        self.said = done.stderr
        return done.stdout

    def files(self) -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in self.cache.rglob("*.nb?")}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.slow
def test_the_second_run_compiles_nothing(machine: Machine) -> None:
    """Neither for a class of a module, wherever it lies, nor for one of a script."""
    assert machine.run(OWN) == FAIR
    before = machine.files()
    assert machine.run(OWN, folder="elsewhere") == FAIR
    assert machine.files() == before
    script = POLICY + RUN.format(policy="LeastPulled()")
    (machine.root / "mine" / "script.py").write_text(script, encoding="utf-8")
    program = "import runpy; runpy.run_path('script.py', run_name='__main__')"
    assert machine.run(program) == FAIR
    after = machine.files()
    assert len(after) > len(before)
    assert machine.run(program) == FAIR
    assert machine.files() == after


@pytest.mark.slow
def test_edited_code_is_compiled_anew(machine: Machine) -> None:
    """Of the policy, of a constant in another module, and of the order of a state's fields."""
    assert machine.run(OWN) == FAIR
    fields = "    pulls: IntArray\n    other: IntArray\n"
    swapped = POLICY.replace(fields, "    other: IntArray\n    pulls: IntArray\n")
    retyped = POLICY.replace("pulls=counts(arms)", "pulls=reals(arms)")
    assert swapped != POLICY != retyped
    assert machine.run(OWN, swapped) == FAIR
    assert machine.run(OWN, retyped) == FAIR
    helped = LEAST.format(imports="from helper import below\n")
    for shift, expected in ((0, FAIR), (100, FIRST_ONLY)):
        text = BELOW.replace("SHIFT = 0", f"SHIFT = {shift}")
        (machine.root / "mine" / "helper.py").write_text(text, encoding="utf-8")
        assert machine.run(OWN, helped) == expected
    assert machine.run(OWN) == FAIR


@pytest.mark.slow
def test_built_in_policies_run_after_a_users_module_is_gone(machine: Machine) -> None:
    machine.run(OWN)
    (machine.root / "mine" / "least.py").unlink()
    here = machine.run(RUN.format(policy="'uniform'"), "")
    assert here == machine.run(RUN.format(policy="'uniform'"), NUMBA_CACHE_DIR=str(machine.root))


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"not what it was\n"])
def test_unreadable_cache_files_are_not_in_the_way(machine: Machine, content: bytes) -> None:
    machine.run(OWN)
    for path in machine.cache.rglob("*.nb?"):
        path.write_bytes(content)
    assert machine.run(OWN) == FAIR
    assert "NUMBA_CACHE_DIR" in machine.said
    machine.said = ""
    assert machine.run(DRAW) == machine.run(DRAW)
    for path in machine.cache.rglob("*.nb?"):
        path.write_bytes(content)
    assert machine.run(DRAW) == "5\n"
    assert "NUMBA_CACHE_DIR" in machine.said


@pytest.mark.slow
def test_without_a_directory_to_write_to_everything_runs(machine: Machine) -> None:
    (machine.root / "file").write_text("no directory")
    places = {"NUMBA_CACHE_DIR": str(machine.root / "file" / "below")}
    assert machine.run(OWN, **places) == FAIR
