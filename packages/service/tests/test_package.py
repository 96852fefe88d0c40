"""The package by itself: what it installs and imports, its README, and its borders."""

from __future__ import annotations

import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import affinity_bandits_service
from affinity_bandits.policies import POLICIES
from tests.docs.pages import read_page
from tests.docs.reader import follow
from tests.docs.test_pages import adapted
from tests.install.test_installations import RUN, STUDIES, TOLD
from tests.support.environments import FOLDERS, PLAIN, ROOT, SERVICE, SERVING, environment

PACKAGE = ROOT / FOLDERS[SERVICE]
LINE = (".", "./packages/client", "./packages/service")
MOST = 110e6
"""Bytes of all installed files: 107 million with constraints.txt. Bytecode adds 33 million."""
LOOKED_UP = r"Fetching project page and analyzing links: \S+/affinity-bandits[\w-]*/"


def run(*command: object, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )


def modules() -> Iterator[str]:
    found = pkgutil.walk_packages(
        affinity_bandits_service.__path__, f"{affinity_bandits_service.__name__}."
    )
    return (one.name for one in found)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three projects alone, for pip writes beside what it builds."""
    place = tmp_path_factory.mktemp("checkout")
    for folder in FOLDERS.values():
        shutil.copytree(ROOT / folder / "src", place / folder / "src")
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy2(ROOT / folder / name, place / folder / name)
    shutil.copy2(ROOT / "hatch_build.py", place / "hatch_build.py")
    return place


@pytest.mark.slow
def test_its_line_installs_it_and_looks_for_none_of_ours_at_an_index(
    checkout: Path, tmp_path: Path
) -> None:
    python, tools = (tmp_path / name / "bin" / "python" for name in ("venv", "tools"))
    assert run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv").returncode == 0
    assert run(sys.executable, "-m", "venv", tmp_path / "tools").returncode == 0
    pip = (tools, "-m", "pip", "--python", python)
    constraint = ("--constraint", ROOT / "constraints.txt")
    done = run(*pip, "-vv", "install", "--no-compile", *constraint, *LINE, cwd=checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.findall(LOOKED_UP, done.stdout)
    assert re.findall(LOOKED_UP.replace("affinity-bandits", "fastapi"), done.stdout)
    assert run(*pip, "check").returncode == 0
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < MOST
    assert not {path.name for path in packages.iterdir()} & STUDIES
    assert (packages / "affinity_bandits_service" / "py.typed").exists()
    imports = "; ".join(f"import {name}" for name in modules())
    version = f"from importlib.metadata import version; print(version({SERVICE!r}))"
    done = run(python, "-c", f"{imports}; {version}", cwd=tmp_path, PYTHONPATH="")
    assert (done.stdout.strip(), done.stderr) == (affinity_bandits_service.__version__, "")
    done = run(python, "-c", RUN, *TOLD, cwd=tmp_path, PYTHONPATH="")
    assert [line.split()[0] for line in done.stdout.splitlines()] == sorted({*POLICIES} - {*TOLD})


@pytest.mark.slow
def test_the_folder_alone_is_looked_up_at_an_index(checkout: Path, tmp_path: Path) -> None:
    """The control of the test above: pip's log names what it looks up."""
    assert run(sys.executable, "-m", "venv", tmp_path / "venv").returncode == 0
    pip = (tmp_path / "venv" / "bin" / "python", "-m", "pip", "-vv", "install", "--dry-run")
    done = run(*pip, LINE[-1], cwd=checkout)
    assert done.returncode == 1
    assert re.search(LOOKED_UP, done.stdout)


@pytest.mark.slow
def test_its_readme_runs_as_printed(tmp_path: Path) -> None:
    page = PACKAGE / "README.md"
    with adapted(page.read_text(encoding="utf-8")) as instead:
        follow(read_page(page), tmp_path, instead, environment(SERVING))


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--help",), ("keys", "add", "--name", "a")])
def test_the_library_alone_says_what_to_install(words: tuple[str, ...]) -> None:
    done = run(environment(PLAIN) / "bin" / "affinity", "serve", *words)
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "affinity: affinity-bandits-service is not installed; install it with: pip install "
        f"{' '.join(LINE)} in a checkout of affinity-bandits\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "module", "planted", "broken"),
    [
        ("service", "store/roles.py", "import affinity_bandits_service.core", "Rooms of the"),
        ("service", "http/routes.py", "import affinity_bandits_service.cli", "Rooms of the"),
        ("service", "core/spec.py", "import affinity_bandits.model.bandit", "no truth to see"),
        ("service", "ui/view.py", "import affinity_bandits.plots.style", "no truth to see"),
        ("service", "core/keys.py", "import affinity_bandits_client.client", "no HTTP client"),
        ("library", "policies/live.py", "import affinity_bandits_service.core", "The library"),
        ("library", "cli/app.py", "import affinity_bandits_service.cli", "The library"),
        ("library", "base/words.py", "import affinity_bandits_client", "The library"),
        (None, "", "", ""),
    ],
)
def test_a_planted_import_is_found(
    package: str | None, module: str, planted: str, broken: str, tmp_path: Path
) -> None:
    places = {
        "library": ROOT / "src" / "affinity_bandits",
        "service": PACKAGE / "src" / "affinity_bandits_service",
    }
    for place in places.values():
        shutil.copytree(place, tmp_path / place.name)
    if package is not None:
        with (tmp_path / places[package].name / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{planted}\n")
    lint = Path(sys.executable).with_name("lint-imports")
    done = run(lint, "--no-cache", PYTHONPATH=str(tmp_path))
    found = " ".join(re.findall(r"^(.*) BROKEN\b", done.stdout, flags=re.MULTILINE))
    assert (done.returncode, broken in found) == (int(bool(broken)), True), done.stdout
