"""Wrong input of every kind is refused by an error of this package, in one line that names it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from affinity_bandits import AffinityError, Power
from affinity_bandits.base.errors import (
    InvalidInput,
    MissingExtra,
    NotSupported,
    StateMismatch,
    UnknownName,
    shown,
)
from tests.base.errors.rows_model import BANDITS, BIASES, BIASES_FROM_DATA, CUSTOM_BIASES
from tests.base.errors.rows_noises import NOISES
from tests.base.errors.rows_planning import ASSUMPTIONS, PLANNED_POLICIES
from tests.base.errors.rows_policies import POLICIES, POLICIES_FROM_DATA
from tests.base.errors.rows_runs import ENVIRONMENTS, LIVE_RUNS, RESULTS, SIMULATIONS, STEP_RUNS
from tests.base.errors.table import live

LONGEST_MESSAGE = 600

ROWS = [
    *BIASES,
    *CUSTOM_BIASES,
    *BIASES_FROM_DATA,
    *BANDITS,
    *NOISES,
    *POLICIES,
    *POLICIES_FROM_DATA,
    *ASSUMPTIONS,
    *PLANNED_POLICIES,
    *SIMULATIONS,
    *LIVE_RUNS,
    *STEP_RUNS,
    *ENVIRONMENTS,
    *RESULTS,
]


@pytest.mark.slow
@pytest.mark.parametrize(("call", "error", "says"), ROWS)
def test_wrong_input_is_refused_in_one_line_that_names_it(
    call: Callable[[], object], error: type[AffinityError], says: list[str]
) -> None:
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert len(message) <= LONGEST_MESSAGE
    for part in says:
        assert part in message


def test_no_two_rows_have_the_same_name() -> None:
    names = [wrong.id for wrong in ROWS]
    assert len(set(names)) == len(names)


def test_every_error_is_caught_as_what_python_would_have_raised() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(MissingExtra, ImportError)
    for error in (InvalidInput, UnknownName, NotSupported, StateMismatch, MissingExtra):
        assert issubclass(error, AffinityError)


def test_an_invalid_input_carries_parameter_rule_and_value() -> None:
    with pytest.raises(InvalidInput) as caught:
        Power(0.5)
    error = caught.value
    assert (error.parameter, error.value) == ("alpha", 0.5)
    assert str(error) == f"alpha must be {error.rule}, got 0.5"


def test_a_refused_feedback_changes_nothing() -> None:
    run = live()
    before = run.to_json()
    with pytest.raises(InvalidInput):
        run.tell(0, math.nan)
    assert run.to_json() == before
    run.tell(0, 1.0)


def test_a_value_too_deep_to_print_is_still_named() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "a value of type list that is too long to print"
