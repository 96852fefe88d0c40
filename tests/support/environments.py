"""Virtual environments with what a page says it needs, and nothing else.

Each is made once for a wheel: by pip, from the wheel and constraints.txt. What several have in
common, the simulator and its packages above all, is unpacked once, into an environment of its own,
and linked into the others; pip then adds what else is asked for and checks the whole. The compiled
loops lie beside the package, in directories that all of them share, so that each is compiled once.
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
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = ROOT / ".venv-docs"
BUILT = MADE / "dist"
WHEEL = "CHECKED_WHEEL"
"""The variable that names the core's wheel where both are built already, in one directory."""
WARM = "simulate --means 0.4,0.6 --bias power --initial-pulls 100,10 --horizon 1e3 --replicates 2"
"""Uses the two policies that most pages begin with."""


@dataclass(frozen=True)
class Needs:
    """What `pip install` is asked for: extras of this package, and other packages."""

    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    def covers(self, other: Needs) -> bool:
        """Return whether whoever has this has the other, too."""
        return set(other.extras) <= set(self.extras) and set(other.packages) <= set(self.packages)


SIMULATION = Needs(("simulation",))
CLIENT, SERVICE = Needs(("client",)), Needs(("service",))
FOR_TESTS = ("hypothesis", "pytest")
"""What tests/conftest.py needs."""
OF_TESTS = (
    Needs(),
    *(CLIENT, Needs(CLIENT.extras, FOR_TESTS)),
    *(SERVICE, Needs(SERVICE.extras, FOR_TESTS)),
)
"""Those that no page names."""


def environment(needs: Needs) -> Path:
    """Return the directory of an environment with exactly this."""
    name = _name(needs)
    if WHEEL in os.environ and (MADE / _digest() / name / "ready").exists():
        return MADE / _digest() / name  # whoever makes another need not be waited for
    with _locked():
        home = MADE / _digest()
        if not (home / name / "ready").exists():
            _forget_others(home)
            _make(home, name, needs)
    return home / name


def copied(needs: Needs, place: Path) -> Path:
    """Return an environment with exactly this at a place of its own, to add something to."""
    _link(environment(needs), place)
    return place


def wheels(folder: Path) -> tuple[Path, Path]:
    """Copy the wheels of `affinity-bandits-core` and of `affinity-bandits` to a folder."""
    with _locked():
        for wheel in _built().glob("*.whl"):
            shutil.copy(wheel, folder)
    (core,) = folder.glob("affinity_bandits_core-*.whl")
    (named,) = folder.glob("affinity_bandits-*.whl")
    return core, named


def _name(needs: Needs) -> str:
    return "-".join((*needs.extras, *needs.packages)) or "nothing"


def _make(home: Path, name: str, needs: Needs) -> None:
    place = home / name
    shutil.rmtree(place, ignore_errors=True)
    base = _base(needs)
    if base is None:
        _venv(place)
    else:
        if not (home / _name(base) / "ready").exists():
            _make(home, _name(base), base)
        _link(home / _name(base), place)
    wanted = str(_wheel()) + (f"[{','.join(needs.extras)}]" if needs.extras else "")
    constraints = ROOT / "constraints.txt"
    pip(place, "install", "--no-compile", "--constraint", constraints, wanted, *needs.packages)
    pip(place, "check")
    if needs == SIMULATION:
        subprocess.run([place / "bin" / "affinity", *WARM.split()], check=True, capture_output=True)
    (place / "ready").touch()


def _base(needs: Needs) -> Needs | None:
    """Return what most of an environment is linked from."""
    if needs.packages:
        return Needs(needs.extras)
    return SIMULATION if "simulation" in needs.extras and needs != SIMULATION else None


def _venv(place: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)


def _link(base: Path, place: Path) -> None:
    """Make an environment whose packages are hard links to those of another."""
    _venv(place)
    (packages,) = base.glob("lib/python*/site-packages")
    ours = packages / "affinity_bandits"

    def compiled(folder: str, names: list[str]) -> set[str]:
        return {"__pycache__"} & set(names) if Path(folder).is_relative_to(ours) else set()

    shutil.copytree(
        packages,
        place / packages.relative_to(base),
        copy_function=os.link,
        dirs_exist_ok=True,
        ignore=compiled,
    )
    for module in ours.rglob("__init__.py"):
        cache = module.with_name("__pycache__")
        cache.mkdir(exist_ok=True)
        linked = place / cache.relative_to(base)
        if not linked.exists():
            linked.symlink_to(cache.resolve())
    for script in (base / "bin").iterdir():
        if script.is_symlink() or (place / "bin" / script.name).exists():
            continue
        text = script.read_text(encoding="utf-8").replace(str(base), str(place))
        (place / "bin" / script.name).write_text(text, encoding="utf-8")
        (place / "bin" / script.name).chmod(0o755)


def pip(place: Path, *words: str | Path) -> None:
    """Run pip on an environment."""
    command = [sys.executable, "-m", "pip", "--python", place / "bin" / "python", "--quiet", *words]
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"pip {words[0]} in {place.name}:\n{done.stdout}{done.stderr}")


def _wheel() -> Path:
    (core,) = _built().glob("affinity_bandits_core-*.whl")
    return core


@cache
def _built() -> Path:
    """Return the directory of both wheels: one that is there already, or built here."""
    if WHEEL in os.environ:
        return Path(os.environ[WHEEL]).parent
    shutil.rmtree(BUILT, ignore_errors=True)
    for source in (ROOT, ROOT / "distributions" / "affinity-bandits"):
        command = [sys.executable, "-m", "build", "--wheel", "--outdir", BUILT, source]
        subprocess.run(command, check=True, capture_output=True)
    return BUILT


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
