"""Figure 1's claims hold in the paper's world and fail in a wrong one."""

from __future__ import annotations

from dataclasses import replace

from affinity_bandits import Constant, Power
from affinity_bandits.paper.figure_01 import ITEM, claims, run

from .cell_runner import runner_in


def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(ITEM.settings["full"], runner_in(tmp_path))))


def test_without_bias_nothing_is_divided_by_k(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which the order stays and so do the gaps."""
    wrong = replace(ITEM.settings["full"], bias=Constant())
    means, order, gaps = claims(run(wrong, runner_in(tmp_path)))
    assert not means.holds
    assert order.holds
    assert not gaps.holds


def test_a_steeper_bias_divides_by_more_than_k(tmp_path) -> None:  # type: ignore[no-untyped-def]
    wrong = replace(ITEM.settings["full"], bias=Power(1.01))
    means, _, gaps = claims(run(wrong, runner_in(tmp_path)))
    assert not means.holds
    assert not gaps.holds
