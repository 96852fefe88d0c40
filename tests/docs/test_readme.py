"""The README's example is short; tests/docs runs it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_readme_example_is_at_most_ten_lines() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    code = [line for line in example.splitlines() if line and not line.startswith("#")]
    assert len(code) <= 10
