"""The claims of the study of contexts hold in its worlds and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.item import Claim, Data
from affinity_bandits.studies.contexts import COMPARISONS, ITEM, NAMES, NOTES, claims, draw, run
from tests.paper.cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], horizon=4_000)


@pytest.mark.slow
def test_claims_hold(tmp_path: Path) -> None:
    data = run(SMALL, runner_in(tmp_path))
    assert [claim.sentence for claim in claims(data) if not claim.holds] == []
    assert len(draw(data).axes) == 2


@pytest.mark.slow
def test_without_bias_nobody_is_deceived(tmp_path: Path) -> None:
    """The planted wrong world: f = 1."""
    wrong = replace(SMALL, bias=Constant(), adverse_runs=10)
    *deceived, found_out, _, _, _ = claims(run(wrong, runner_in(tmp_path)))
    assert len(deceived) == 3
    assert not any(claim.holds for claim in deceived)
    assert found_out.holds


@pytest.mark.slow
def test_types_that_do_not_differ_break_nothing(tmp_path: Path) -> None:
    """The planted wrong world: both types have the same true values."""
    wrong = replace(SMALL, runs=2, adverse_runs=300, adverse_means=((0.5, 0.5), (0.5, 0.5)))
    *_, fixed, whole, _ = claims(run(wrong, runner_in(tmp_path)))
    assert not fixed.holds
    assert not whole.holds


def told(lost: dict[str, int], part: float = 0.0) -> list[Claim]:
    """Return the claims on 1,000 runs each, of which so many lose a best group."""
    rows = [
        ("drawn", policy, number, time, part, False)
        for policy in NAMES
        for number in range(4)
        for time in range(NOTES)
    ]
    rows += [
        ("adverse", name, number, 100, 0.0, number < lost[name])
        for name in COMPARISONS
        for number in range(1_000)
    ]
    names = ("world", "policy", "run", "time", "part", "lost")
    data: Data = {
        name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    return claims(data)


def test_a_guarantee_that_is_broken_is_seen() -> None:
    """The planted wrong world: half counts lose a best group in one run of twelve."""
    *_, fixed, whole, half = told({"fixed": 1_000, "whole": 200, "half": 83})
    assert fixed.holds
    assert whole.holds
    assert not half.holds


def test_a_level_that_is_kept_is_not_said_to_be_broken() -> None:
    *_, fixed, whole, half = told({"fixed": 40, "whole": 40, "half": 20})
    assert not fixed.holds
    assert not whole.holds
    assert half.holds
