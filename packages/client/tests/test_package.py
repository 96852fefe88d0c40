"""The package by itself: what it installs and imports, its README, and its borders."""

from __future__ import annotations

import os
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import affinity_bandits_client
from tests.support.clients import Service
from tests.support.environments import ROOT

PACKAGE = ROOT / "packages" / "client"
MOST = 36e6  # bytes of all installed files
SERVER = (
    "fastapi",
    "starlette",
    "uvicorn",
    "asyncpg",
    "orjson",
    "numba",
    "numpy",
    "affinity_bandits",
)


def run(*command: object, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow
def test_it_installs_and_imports_alone(tmp_path: Path) -> None:
    uv = (sys.executable, "-m", "uv", "--quiet")
    python = tmp_path / "venv" / "bin" / "python"
    for command in (
        ("venv", "--python", sys.executable, tmp_path / "venv"),
        ("pip", "install", "--python", python, "--constraint", ROOT / "hashes.txt", PACKAGE),
        ("pip", "check", "--python", python),
    ):
        done = run(*uv, *command)
        assert done.returncode == 0, done.stderr
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < MOST
    there = {path.name for path in packages.iterdir()}
    assert not there & {"affinity_bandits", "numba", "numpy", "pandas", "scipy"}
    assert (packages / "affinity_bandits_client" / "py.typed").exists()
    imports = "; ".join(f"import {name}" for name in modules())
    version = "from importlib.metadata import version; print(version('affinity-bandits-client'))"
    done = run(python, "-c", f"{imports}; {version}", cwd=tmp_path, PYTHONPATH="")
    assert (done.stdout.strip(), done.stderr) == (affinity_bandits_client.__version__, "")


def modules() -> list[str]:
    found = pkgutil.walk_packages(affinity_bandits_client.__path__, "affinity_bandits_client.")
    return [one.name for one in found]


def test_every_public_name_exists() -> None:
    for name in affinity_bandits_client.__all__:
        assert getattr(affinity_bandits_client, name).__name__ == name
    assert dir(affinity_bandits_client) == sorted(affinity_bandits_client.__all__)
    for name in affinity_bandits_client._MODULE_OF:
        assert getattr(import_module("affinity_bandits_client"), name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Klient'"):
        _ = affinity_bandits_client.Klient


@pytest.mark.slow
def test_importing_it_loads_nothing_of_the_server_and_messages_no_http_client() -> None:
    loaded = "import sys; print(*(name.partition('.')[0] for name in sys.modules))"
    everything = run(sys.executable, "-c", f"import {', '.join(modules())}; {loaded}")
    assert not {*SERVER} & {*everything.stdout.split()}
    assert "httpx2" in everything.stdout.split()
    messages = run(sys.executable, "-c", f"import affinity_bandits_client.messages; {loaded}")
    assert not {*SERVER, "httpx2"} & {*messages.stdout.split()}
    assert "pydantic" in messages.stdout.split()


@pytest.mark.slow
def test_its_readme_runs_as_printed(service: Service, tmp_path: Path) -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    (printed,) = re.findall(r"this prints `(.+?)`", text)
    done = run(
        *(sys.executable, "-c", block),
        cwd=tmp_path,
        AFFINITY_URL=service.url,
        AFFINITY_KEY=service.key(),
    )
    assert (done.stdout, done.stderr) == (f"{printed}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "planted", "broken"),
    [
        (
            "core.py",
            "import affinity_bandits.base.words",
            "The client needs nothing of the library",
        ),
        ("journal.py", "import numpy", "The client needs nothing of the library"),
        ("messages/slots.py", "import httpx2", "The service needs the client's messages"),
        (
            "messages/base.py",
            "from affinity_bandits_client import core",
            "The client is built from",
        ),
        (None, "", ""),
    ],
)
def test_a_planted_import_is_found(
    module: str | None, planted: str, broken: str, tmp_path: Path
) -> None:
    source = tmp_path / "src" / "affinity_bandits_client"
    shutil.copytree(PACKAGE / "src" / "affinity_bandits_client", source)
    if module is not None:
        with (source / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{planted}\n")
    lint = Path(sys.executable).with_name("lint-imports")
    done = run(lint, "--no-cache", PYTHONPATH=str(source.parent))
    found = " ".join(re.findall(r"^(.*) BROKEN$", done.stdout, flags=re.MULTILINE))
    assert (done.returncode, broken in found) == (int(bool(broken)), True), done.stdout
