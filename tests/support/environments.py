"""Environments with what a page says it needs, and nothing else.

Four are real: the one that runs the tests, a plain installation, one with the extra `study`, and
one with the service and its client. For other needs, the first one hides the packages that
the page does not name.

    python -m tests.support.environments     makes the three others; CI does so in the background
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MADE = ROOT / ".venv-docs"
WHEELS = "CHECKED_WHEELS"
"""The variable that names the folder of our wheels, if they are built already."""
LIBRARY, CLIENT, SERVICE = (f"affinity-bandits{end}" for end in ("", "-client", "-service"))
FOLDERS = {LIBRARY: ".", CLIENT: "packages/client", SERVICE: "packages/service"}
"""Our distributions, and where each stands in a checkout."""


@dataclass(frozen=True)
class Needs:
    """What `pip install` is asked for: extras of the library, and other packages.

    Packages of ours may have extras, too: `affinity-bandits-service[otel]`.
    """

    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    def covers(self, other: Needs) -> bool:
        """Return whether this installs everything that the other does."""
        return set(other.extras) <= set(self.extras) and set(other.packages) <= set(self.packages)


PLAIN, STUDY, SERVING = Needs(), Needs(("study",)), Needs((), (CLIENT, SERVICE))


def variables(needs: Needs) -> dict[str, str]:
    """Return variables under which commands of the tests' environment find only this."""
    import affinity_bandits  # environments are made before it is installed

    package = Path(affinity_bandits.__file__).parents[1]
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": f"{Path(__file__).parent / 'hiding'}:{package}",
        "HIDDEN_PACKAGES": " ".join(hidden(needs)),
    }


def hidden(needs: Needs) -> list[str]:
    """Return the modules that an extra or a package of ours installs and these needs do not."""
    wanted = with_dependencies(
        *declared(), *(name for extra in needs.extras for name in declared(extra)), *needs.packages
    )
    known = {CLIENT, SERVICE, *declared(of=CLIENT), *declared(of=SERVICE)}
    for of in (LIBRARY, SERVICE):
        known = known.union(*(declared(extra, of) for extra in extras(of)))
    unwanted = known - wanted
    return sorted(
        module
        for module, owners in installed().items()
        if any(normal(owner) in unwanted for owner in owners)
        and not any(normal(owner) in wanted for owner in owners)
    )


def installed() -> dict[str, list[str]]:
    """Return the distributions of each module; one that is installed for editing lists none."""
    return {**packages_distributions(), **{one.replace("-", "_"): [one] for one in FOLDERS}}


@cache
def project(of: str = LIBRARY) -> dict[str, Any]:
    """Return the table `project` of the pyproject.toml of a distribution of ours."""
    text = (ROOT / FOLDERS[of] / "pyproject.toml").read_text("utf-8")
    table: dict[str, Any] = tomllib.loads(text)["project"]
    return table


def extras(of: str = LIBRARY) -> dict[str, list[str]]:
    """Return the requirements of each extra, as pyproject.toml has them."""
    found: dict[str, list[str]] = project(of).get("optional-dependencies", {})
    return found


def declared(extra: str | None = None, of: str = LIBRARY) -> set[str]:
    """Return the packages that an extra names, or that a plain installation needs."""
    found: set[str] = set()
    for line in project(of)["dependencies"] if extra is None else extras(of)[extra]:
        name, inner = re.match(r"([\w.-]+)(?:\[([\w-]+)\])?", line).groups()  # type: ignore[union-attr]
        found |= declared(inner) if name == LIBRARY else {normal(name)}
    return found


def normal(name: str) -> str:
    """Return the name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def with_dependencies(*names: str) -> set[str]:
    """Return these installed packages and everything they require."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name, *wanted = re.findall(r"[\w.-]+", normal(todo.pop()))
        todo += [other for extra in wanted for other in declared(extra, name)]
        if name in found:
            continue
        found.add(name)
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            lines = []
        todo += [re.split(r"[^\w.-]", line)[0] for line in lines if "extra ==" not in line]
    return found


def environment(needs: Needs) -> Path:
    """Return a real environment with exactly this and no other package, made once per wheel."""
    MADE.mkdir(exist_ok=True)
    with (MADE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time makes environments
        home = MADE / _digest()
        place = home / ("-".join((*needs.extras, *needs.packages)) or "plain")
        if not (place / "ready").exists():
            for other in MADE.iterdir():
                if other.is_dir() and other not in (home, MADE / "cache", MADE / "dist"):
                    shutil.rmtree(other)
            shutil.rmtree(place, ignore_errors=True)
            _uv("venv", "--python", sys.executable, place)
            library = f"{_wheel(LIBRARY)}[{','.join(needs.extras)}]".removesuffix("[]")
            wheels: tuple[str | Path, ...] = (library, *map(_wheel, needs.packages))
            python = ("--python", place / "bin" / "python")
            _uv("pip", "install", *python, "--constraint", ROOT / "hashes.txt", *wheels)
            _uv("pip", "check", *python)
            (place / "ready").touch()
    return place


def _uv(*words: str | Path) -> None:
    command = [sys.executable, "-m", "uv", "--quiet", *words]
    done = subprocess.run(command, check=False, text=True, capture_output=True)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"


def _wheel(distribution: str) -> Path:
    (built,) = _wheels().glob(f"{distribution.replace('-', '_')}-*.whl")
    return built


@cache
def _wheels() -> Path:
    if WHEELS in os.environ:
        return Path(os.environ[WHEELS])
    shutil.rmtree(MADE / "dist", ignore_errors=True)
    for folder in FOLDERS.values():
        _uv("build", "--wheel", "--out-dir", MADE / "dist", ROOT / folder)
    return MADE / "dist"


@cache
def _digest() -> str:
    """Return a digest of what an environment depends on: wheels, versions, Python."""
    files = (*sorted(_wheels().glob("*.whl")), ROOT / "constraints.txt")
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content + sys.version.encode()).hexdigest()[:16]


if __name__ == "__main__":
    for one in (PLAIN, STUDY, SERVING):
        environment(one)
