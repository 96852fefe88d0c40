"""The README's example runs and prints what it says; the policy in the docs keeps the contract."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from affinity_bandits.testing import check_policy

pytestmark = pytest.mark.slow  # each test starts processes or compiles

ROOT = Path(__file__).parent.parent


def python_blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_readme_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = python_blocks(ROOT / "README.md")
    exec(compile(example, "README.md", "exec"), {})
    promised = re.findall(r"^# (\w+: regret .*)$", example, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == promised
    code = [line for line in example.splitlines() if line and not line.startswith("#")]
    assert len(code) <= 10


def test_the_policy_in_the_docs_keeps_the_contract() -> None:
    names: dict[str, object] = {}
    example, *_ = python_blocks(ROOT / "docs" / "policies.md")
    exec(compile(example, "policies.md", "exec"), names)
    check_policy(names["LeastPulled"]())  # type: ignore[operator]


def test_first_steps_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in python_blocks(ROOT / "docs" / "first-steps.md"):
        runnable = block.replace("1_000_000", "10_000").replace(".plot()", "")
        exec(compile(runnable, "first-steps.md", "exec"), names)
