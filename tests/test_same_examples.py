"""What Hypothesis tries depends on the test alone, so that one that passes today does tomorrow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = """
from hypothesis import given, settings, strategies as st

def tried():
    found = []

    @settings(derandomize=True, database=None)
    @given(st.lists(st.floats(0.0, 1.0), min_size=5))
    def test(values):
        found.extend(values)

    test()
    return found

before = tried()
import loaded
after = tried()
print(after == before, loaded.number in after)
"""


def with_another_module(folder: Path, settings: str) -> str:
    (folder / "loaded.py").write_text("number = 0.1234567891\n", encoding="utf-8")
    (folder / "script.py").write_text(settings + SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_a_module_that_another_test_loads_changes_nothing(tmp_path: Path) -> None:
    assert with_another_module(tmp_path, "import conftest") == "True False"


@pytest.mark.slow
def test_without_our_settings_it_would(tmp_path: Path) -> None:
    assert with_another_module(tmp_path, "") == "False True"
