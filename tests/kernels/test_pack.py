"""Machine code that comes with the package: it is used by the command alone, or said not to fit.

A small pack is made once; `tests/cli/test_warm.py` has that of the first commands.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding
import pytest
from typer.testing import CliRunner

from affinity_bandits.cli.app import app
from affinity_bandits.cli.warm import warm_up
from affinity_bandits.kernels import pack
from affinity_bandits.kernels.pack import (
    DIGESTS,
    NEEDED,
    VARIABLE,
    make_pack,
    missing_features,
    pack_name,
    pack_processor,
)
from tests.support.processes import run_python

UCB1 = ("simulate", "--means", "0.4,0.6", "--policy", "ucb1", "--horizon", "2000")
SAVED = (*UCB1, "--replicates", "3", "--save", "result.npz")
COUNTED = """
import sys
from pathlib import Path
from affinity_bandits.base import progress
from affinity_bandits.kernels import pack
pack.SHIPPED = Path({shipped!r})
compiled = []
progress.begin_delay = compiled.append
progress.end_delay = lambda words: None
from affinity_bandits.cli import main
try:
    main()
finally:
    print("compiled", len(compiled))
"""
"""Runs the command with a pack, and prints how many functions numba compiled by its own events."""
LIBRARY = """
import os
from pathlib import Path
from affinity_bandits.kernels import pack
pack.SHIPPED = Path({shipped!r})
from affinity_bandits import AffinityBandit, simulate
simulate(AffinityBandit([0.4, 0.6]), "ucb1", 100, 1, progress=False)
print(pack.pack_in_use(), *(name for name in os.environ if name.startswith("NUMBA_CPU")))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a pack for UCB1."""
    root = tmp_path_factory.mktemp("made")
    variables = pack_processor() | {VARIABLE: "", "NUMBA_CACHE_DIR": str(root / "cache")}
    assert warm_up({"simulate": (*UCB1, "--replicates", "1")}, variables) == []
    make_pack(root / "cache", root / "packs")
    return root / "packs"


class Ran(NamedTuple):
    compiled: int
    printed: str
    said: str
    result: bytes


def ran(shipped: Path, folder: Path) -> Ran:
    """A simulation by the command, with new caches."""
    folder.mkdir()
    done = run_python(
        *("-c", COUNTED.format(shipped=str(shipped)), *SAVED),
        folder=folder,
        NUMBA_CACHE_DIR=str(folder / "cache"),
    )
    printed, _, number = done.stdout.rpartition("compiled ")
    lines = [line for line in done.stderr.splitlines() if "at work" not in line]
    return Ran(int(number), printed, "\n".join(lines), (folder / "result.npz").read_bytes())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The same without a pack: the negative control."""
    folder = tmp_path_factory.mktemp("alone")
    return ran(folder / "none", folder / "run")


@pytest.mark.slow
def test_the_command_compiles_nothing_and_finds_the_same(
    made: Path, alone: Ran, tmp_path: Path
) -> None:
    packed = ran(made, tmp_path / "run")
    assert packed.compiled == 0
    assert alone.compiled > 0
    assert packed[1:] == alone[1:]
    assert alone.said == ""
    (place,) = (tmp_path / "run" / "cache").iterdir()  # numba's own files are elsewhere
    assert place.name == "machine-code"


def spoil_code(folder: Path) -> None:
    """The code of one small function, by one bit."""
    path = smallest(folder)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_index(folder: Path) -> None:
    path = next(folder.glob(f"{smallest(folder).name.removesuffix('.1.nbc')}.nbi"))
    path.write_bytes(path.read_bytes()[:20])


def lose_code(folder: Path) -> None:
    smallest(folder).unlink()


def smallest(folder: Path) -> Path:
    return min(folder.glob("*.nbc"), key=lambda path: path.stat().st_size)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [spoil_code, cut_index, lose_code])
def test_a_damaged_file_is_compiled_instead(
    made: Path, alone: Ran, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    shutil.copytree(made, tmp_path / "packs")
    spoil(tmp_path / "packs" / pack_name())
    found = ran(tmp_path / "packs", tmp_path / "run")
    assert 0 < found.compiled < alone.compiled
    assert (found.printed, found.result) == (alone.printed, alone.result)
    start = "affinity: the machine code of the package cannot be used ("
    assert found.said.startswith(start)
    assert found.said.count("\n") == 0


def for_another_numba(name: str) -> str:
    return re.sub(r"numba-[\d.]+", "numba-0.1.2", name)


def for_another_processor(name: str) -> str:
    return re.sub("x86-64-v3|generic", "skylake", name)


@pytest.mark.slow
@pytest.mark.parametrize("rename", [for_another_numba, for_another_processor])
def test_a_pack_that_does_not_fit_is_not_used(
    made: Path, alone: Ran, tmp_path: Path, rename: Callable[[str], str]
) -> None:
    other = rename(pack_name())
    assert other != pack_name()
    shutil.copytree(made / pack_name(), tmp_path / "packs" / other)
    found = ran(tmp_path / "packs", tmp_path / "run")
    assert found.compiled == alone.compiled
    assert (found.printed, found.result) == (alone.printed, alone.result)
    assert found.said == (
        f"affinity: the machine code of the package is for {other}, this is {pack_name()}; "
        f"it is compiled here, once"
    )


@pytest.mark.slow
def test_code_for_another_processor_is_not_used(made: Path, alone: Ran, tmp_path: Path) -> None:
    """numba's index says for which one: even under the right name, such a file is left alone."""
    root = tmp_path / "other"
    variables = {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "", VARIABLE: ""}
    warm_up({"": (*UCB1, "--replicates", "1")}, variables | {"NUMBA_CACHE_DIR": str(root)})
    make_pack(root, tmp_path / "packs")
    found = ran(tmp_path / "packs", tmp_path / "run")
    assert found.compiled == alone.compiled
    assert found[1:] == alone[1:]


@pytest.mark.slow
def test_an_import_of_the_library_uses_no_pack(made: Path, tmp_path: Path) -> None:
    program = LIBRARY.format(shipped=str(made))
    assert run_python("-c", program, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "None\n"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty pack that fits, in a process that has not imported numba."""
    folder = tmp_path / "packs"
    (folder / pack_name()).mkdir(parents=True)
    (folder / pack_name() / DIGESTS).write_text("{}", encoding="utf-8")
    monkeypatch.setattr(pack, "SHIPPED", folder)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    yield folder
    pack._refused.clear()


def test_a_pack_that_fits_is_used_in_a_cache_of_its_own(shipped: Path, tmp_path: Path) -> None:
    variables = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "2"}
    pack.use_pack(variables)
    assert variables == {
        "NUMBA_CPU_NAME": pack_processor()["NUMBA_CPU_NAME"],
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path / "machine-code" / pack_name()),
        "NUMBA_NUM_THREADS": "2",
        VARIABLE: str(shipped / pack_name()),
    }
    usual: dict[str, str] = {}
    pack.use_pack(usual)
    assert os.sep + "affinity-bandits" + os.sep in usual["NUMBA_CACHE_DIR"]


@pytest.mark.parametrize(
    "own", ["NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT", "NUMBA_OPT", VARIABLE]
)
def test_settings_of_the_user_stay(shipped: Path, own: str) -> None:
    variables = {own: "1"}
    pack.use_pack(variables)
    assert variables == {own: "1"}
    assert not pack._refused


def test_a_process_with_numba_stays_as_it_is(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numba", pytest)
    variables: dict[str, str] = {}
    pack.use_pack(variables)
    assert variables == {}


@pytest.mark.parametrize("content", ["", "[]", "{", None])
def test_a_pack_without_its_list_is_refused_in_one_line(shipped: Path, content: str | None) -> None:
    path = shipped / pack_name() / DIGESTS
    path.unlink() if content is None else path.write_text(content, encoding="utf-8")
    variables: dict[str, str] = {}
    pack.use_pack(variables)
    assert variables == {}
    with pytest.warns(UserWarning, match="cannot be used") as said:
        pack.tell_refusal()
    assert len(said) == 1
    pack.tell_refusal()  # once


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another kind of processor")
def test_a_processor_that_lacks_something_is_told_so(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instruction that it lacks would end the process."""
    features = dict.fromkeys(NEEDED["x86-64-v3"], True)
    assert missing_features() == []
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    assert missing_features() == []
    features |= {"avx2": False, "fma": False}
    variables: dict[str, str] = {}
    pack.use_pack(variables)
    assert variables == {}
    with pytest.warns(UserWarning, match="needs a processor with avx2, fma; it is compiled here"):
        pack.tell_refusal()
    done = CliRunner().invoke(app, ["warm", "--pack", str(shipped / "new")])
    assert "pack must be made on a processor with avx2, fma" in str(done.exception)


def test_a_processor_of_another_kind_gets_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack.platform, "machine", lambda: "arm64")
    assert pack_processor() == {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert "-arm64-generic-" in pack_name()
    assert missing_features() == []


@pytest.mark.parametrize("part", ["system", "processor", "python", "numba", "source"])
def test_the_name_has_all_that_must_agree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: str
) -> None:
    before = pack_name()
    if part == "source":
        shutil.copytree(pack.PACKAGE / "kernels", tmp_path / "kernels")
        monkeypatch.setattr(pack, "PACKAGE", tmp_path)
        first = pack_name()
        with (tmp_path / "kernels" / "compile.py").open("a", encoding="utf-8") as file:
            file.write("# another option\n")
        assert first != pack_name()
        before = first
    elif part == "numba":
        monkeypatch.setattr(pack, "version", lambda _: "9.9")
    elif part == "python":
        monkeypatch.setattr(sys.implementation, "cache_tag", "other-1")
    elif part == "system":
        monkeypatch.setattr(sys, "platform", "other")
    else:
        monkeypatch.setattr(pack.platform, "machine", lambda: "other")
    assert pack_name() != before


def test_a_pack_has_the_digest_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "cache" / "rounds_1").mkdir(parents=True)
    for name in ("a.f_1-2.py311.1.nbc", "a.f_1-2.py311.nbi", "other.txt"):
        (tmp_path / "cache" / "rounds_1" / name).write_bytes(b"code")
    folder = make_pack(tmp_path / "cache", tmp_path / "packs")
    digests = json.loads((folder / DIGESTS).read_text(encoding="utf-8"))
    assert sorted(digests) == ["a.f_1-2.py311.1.nbc", "a.f_1-2.py311.nbi"]
    assert {len(one) for one in digests.values()} == {64}
