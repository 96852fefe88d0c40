"""What importing the client loads, and what it says where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import affinity_bandits


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.slow
def test_importing_the_client_loads_nothing_of_the_server() -> None:
    server = ["fastapi", "starlette", "uvicorn", "asyncpg", "orjson", "numba", "scipy", "xarray"]
    done = run(f"import sys, affinity_bandits.client; print(*({{*{server!r}}} & {{*sys.modules}}))")
    assert (done.stdout.split(), done.stderr) == ([], "")


@pytest.mark.slow
def test_the_client_and_its_messages_need_no_numpy() -> None:
    done = run(
        "import sys, types; "
        # The package's own front door is not the client's.
        "package = types.ModuleType('affinity_bandits'); "
        f"package.__path__ = [{str(Path(affinity_bandits.__file__).parent)!r}]; "
        "sys.modules['affinity_bandits'] = package; "
        "import affinity_bandits.client; "
        "print('numpy' in sys.modules)"
    )
    assert done.stdout.split() == ["False"]


def test_without_httpx_the_client_says_what_to_install() -> None:
    done = run("import sys; sys.modules['httpx'] = None; import affinity_bandits.client")
    assert 'pip install ".[client]"' in done.stderr.splitlines()[-1]
