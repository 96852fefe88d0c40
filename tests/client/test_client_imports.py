"""What importing the client loads, and what it says where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import affinity_bandits


@pytest.mark.slow
def test_importing_the_client_loads_nothing_of_the_server() -> None:
    server = ["fastapi", "starlette", "uvicorn", "asyncpg", "sqlalchemy", "alembic"]
    code = (
        "import sys, affinity_bandits.client; "
        f"print(*({{*{[*server, 'orjson', 'numba', 'scipy', 'xarray']!r}}} & {{*sys.modules}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []


@pytest.mark.slow
def test_the_client_and_its_messages_need_no_numpy() -> None:
    code = (
        "import sys, types; "
        # The package's own front door is not the client's.
        "package = types.ModuleType('affinity_bandits'); "
        f"package.__path__ = [{str(Path(affinity_bandits.__file__).parent)!r}]; "
        "sys.modules['affinity_bandits'] = package; "
        "import affinity_bandits.client; "
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False"]


def test_without_httpx_the_client_says_what_to_install() -> None:
    code = "import sys; sys.modules['httpx'] = None; import affinity_bandits.client"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert "pip install 'affinity-bandits-core[client]'" in done.stderr.splitlines()[-1]
