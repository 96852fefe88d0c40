"""The same settings and seed choose as they did."""

from __future__ import annotations

import json

import pytest

from . import choices

RULE = "affinity_bandits.policies.betting"


@pytest.mark.slow
def test_choices_are_those_that_are_on_record() -> None:
    stored = json.loads(choices.STORED.read_text(encoding="utf-8"))
    found = choices.made()
    assert list(found) == list(stored), "a model is new or gone: make the file again"
    others = [name for name in found if found[name] != stored[name]]
    assert others == [], "see tests/simulation/choices.py"


@pytest.mark.slow
def test_a_rule_that_was_not_there_is_seen() -> None:
    """The control: the head start as it was before stakes were tried."""
    stored = json.loads(choices.STORED.read_text(encoding="utf-8"))
    assert choices.made("found_late()")["found late"] == stored["found late"]
    before = choices.made("found_late()", f"import {RULE} as betting; betting.TRIED = 0.0")
    assert before["found late"] != stored["found late"]
