"""`bind` refuses a name that a kernel never reads, and nothing in the package binds one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import pytest

from affinity_bandits import (
    AffinityBandit,
    Constant,
    InGroupBonus,
    Judges,
    PanelElimination,
    Power,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import Function, bind
from affinity_bandits.planning import hardest_rounds
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.contracts import RoundKernels
from affinity_bandits.policies.leading import stay
from affinity_bandits.policies.live import as_steps
from affinity_bandits.policies.panels import seats_in_order
from affinity_bandits.policies.wealth import bet_on_leader
from affinity_bandits.simulation import rounds, steps
from affinity_bandits.simulation.rounds import SUMS, bound_rounds, bound_tally
from affinity_bandits.testing import check_policy
from tests.contracts.test_contracts import policy_examples


def inner(x: float) -> float:
    return x


def outer(x: float) -> float:
    def nested(y: float) -> float:
        return inner(y)

    return nested(x) + math.pi


def test_a_name_is_bound_where_the_kernel_reads_it() -> None:
    assert bind(outer, inner=lambda x: 2.0 * x)(1.0) == 2.0 + math.pi
    assert bind(outer, math=type("Math", (), {"pi": 0.0}))(1.0) == 1.0
    assert outer(1.0) == 1.0 + math.pi


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"inners": abs}, "kernel outer never reads 'inners'; did you mean 'inner'?"),
        ({"inner": abs, "mat": 3}, "kernel outer never reads 'mat'; did you mean 'math'?"),
        # An attribute is read of an object, not as a global.
        ({"pi": 3.0}, "kernel outer never reads 'pi'; did you mean 'inner'?"),
        ({"nested": abs}, "never reads 'nested'"),
    ],
)
def test_a_name_that_is_never_read_is_refused(names: dict[str, Function], says: str) -> None:
    with pytest.raises(TypeError) as refused:
        bind(outer, **names)
    assert says in str(refused.value)


def test_a_kernel_that_reads_no_names_takes_none() -> None:
    with pytest.raises(TypeError, match=r"kernel inner never reads 'other'$"):
        bind(inner, other=abs)


@dataclass(frozen=True, kw_only=True)
class Misspelled(PanelElimination):
    """`PanelElimination` with one letter too many, which would bet in every round."""

    name: ClassVar[str] = "misspelled-panel-elimination"

    def kernels(self) -> RoundKernels:
        return self._bind(go_on=stay, bet_on_leader=bind(bet_on_leader, may_bets=seats_in_order))


MISSPELLED = Misspelled(bounded=True, failure=0.05)
PANEL = AffinityBandit(
    [0.55, 0.45],
    bias=InGroupBonus(4.0),
    initial_pulls=[1, 200],
    judges=Judges("panel", seats=40, seating="in proportion"),
)


def test_a_misspelled_copy_of_a_policy_is_refused() -> None:
    """With the name ignored, its runs dropped the best arm in .965 instead of at most .05."""
    says = "kernel bet_on_leader never reads 'may_bets'; did you mean 'may_bet'?"
    with pytest.raises(AssertionError) as checked:
        check_policy(MISSPELLED)
    assert says in str(checked.value)
    for engine in ("auto", "steps", "python"):
        with pytest.raises(InvalidInput) as run:
            simulate(PANEL, MISSPELLED, 100, 1, engine=engine, progress=False)
        assert says in str(run.value)
        assert "test_kernel.py, line " in str(run.value)


def test_every_policy_binds_only_what_is_read() -> None:
    """So does every loop that plays one, as simulations, logs and plans make them."""
    found = 0
    for policy in policy_examples():
        played = as_steps(policy).kernels()
        for plain in (False, True):
            steps.bound_batch(played, plain)
        steps.bound_log(played)
        found += 1
        if isinstance(policy, RoundPolicy):
            for seated in (False, True):
                bound_rounds(policy.kernels(), seated)
    assert found >= 25


def test_every_draw_binds_only_what_is_read() -> None:
    for (kernel, name, bound), bias in product(
        SUMS.values(), (Power(1.0), Constant(), InGroupBonus(0.5))
    ):
        bind(kernel, **{name: bound(bias.kernel)})
        bind(rounds.draw_tallies, tally_of_arm=bound_tally(bias.kernel))
    assert len(SUMS) == 6


def test_the_hardest_rounds_of_plans_bind_only_what_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hardest_rounds, "compile_kernel", lambda kernel, **_: kernel)
    for policy in policy_examples():
        if isinstance(policy, RoundPolicy):
            hardest_rounds.bound_hardest.__wrapped__(policy.kernels(), False)
