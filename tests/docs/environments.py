"""Virtual environments with what a page says it needs, and nothing else.

Each is made once for a wheel: by pip, from the wheel and constraints.txt. The packages that every
one of them has are unpacked once, into the environment without extras, and linked into the others;
pip then adds what the extras ask for and checks the whole. The compiled loops lie beside the
package and come along, so that each is compiled once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.docs.pages import Needs

ROOT = Path(__file__).parents[2]
MADE = ROOT / ".venv-docs"
BUILT = MADE / "dist"
WHEEL = "AFFINITY_WHEEL"
"""The variable that names a wheel that is built already."""
WARM = "simulate --means 0.4,0.6 --bias power --initial-pulls 100,10 --horizon 1e3 --replicates 2"
"""Uses the two policies that most pages begin with."""


def environment(needs: Needs) -> Path:
    """Return the directory of an environment with exactly this."""
    name = "-".join(("core", *needs.extras, *needs.packages))
    with _locked():
        home = MADE / _digest()
        if not (home / name / "ready").exists():
            _forget_others(home)
            _make(home, name, needs)
    return home / name


def _make(home: Path, name: str, needs: Needs) -> None:
    place = home / name
    shutil.rmtree(place, ignore_errors=True)
    wanted = str(_wheel())
    if needs.extras or needs.packages:
        if not (home / "core" / "ready").exists():
            _make(home, "core", Needs())
        _link(home / "core", place)
        wanted += f"[{','.join(needs.extras)}]" if needs.extras else ""
    else:
        _venv(place)
    constraints = ROOT / "constraints.txt"
    _pip(place, "install", "--no-compile", "--constraint", constraints, wanted, *needs.packages)
    _pip(place, "check")
    if name == "core":
        subprocess.run([place / "bin" / "affinity", *WARM.split()], check=True, capture_output=True)
    (place / "ready").touch()


def _venv(place: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)


def _link(core: Path, place: Path) -> None:
    """Make an environment whose packages are hard links to those of another."""
    _venv(place)
    (packages,) = core.glob("lib/python*/site-packages")
    shutil.copytree(
        packages, place / packages.relative_to(core), copy_function=os.link, dirs_exist_ok=True
    )
    for script in (core / "bin").iterdir():
        if script.is_symlink() or (place / "bin" / script.name).exists():
            continue
        text = script.read_text(encoding="utf-8").replace(str(core), str(place))
        (place / "bin" / script.name).write_text(text, encoding="utf-8")
        (place / "bin" / script.name).chmod(0o755)


def _pip(place: Path, *words: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--python", place / "bin" / "python", "--quiet", *words]
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"pip {words[0]} in {place.name}:\n{done.stdout}{done.stderr}")


@cache
def _wheel() -> Path:
    """Return the wheel that is there already, or build one."""
    if WHEEL in os.environ:
        return Path(os.environ[WHEEL])
    shutil.rmtree(BUILT, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", BUILT, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = BUILT.glob("*.whl")
    return wheel


@cache
def _digest() -> str:
    """Return what an environment's content follows from: the wheel, the versions, this Python."""
    state = hashlib.sha256(_wheel().read_bytes())
    state.update((ROOT / "constraints.txt").read_bytes())
    state.update(sys.version.encode())
    return state.hexdigest()[:16]


def _forget_others(home: Path) -> None:
    """Remove the environments of older wheels: each set is a gigabyte."""
    home.mkdir(parents=True, exist_ok=True)
    for other in MADE.iterdir():
        if other.is_dir() and other not in (home, BUILT):
            shutil.rmtree(other)


@contextmanager
def _locked() -> Iterator[None]:
    """Let one process at a time make environments."""
    MADE.mkdir(exist_ok=True)
    with (MADE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
