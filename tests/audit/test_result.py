"""The result of an audit as JSON has what would matter, and plain numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from affinity_bandits.audit import audit_scores
from tests.audit.logs import draw
from tests.audit.test_plain_numbers import numbers
from tests.cli.test_asking import audit, written


def test_what_would_matter_is_part_of_the_result(tmp_path: Path) -> None:
    path, kept = written(tmp_path, "score"), tmp_path / "audit.json"
    for words, matters in (((), 0.4), (("--matters", "1.5"), 1.5)):
        done = audit(path, "--scale", "1..5", "--json", kept, *words)
        assert done.returncode == 0, done.stderr
        assert f'"matters": {matters}' in kept.read_text(encoding="utf-8")


def test_an_audit_has_plain_numbers() -> None:
    found = [
        one
        for log in (draw(600, favor=1.0), draw(600), draw(20))
        for one in numbers(audit_scores(log, draws=20), "audit")
    ]
    assert [place for place, value in found if isinstance(value, np.generic)] == []
    assert len(found) > 100
    assert "np." not in repr(audit_scores(draw(600, favor=1.0), draws=20).favor)
