"""A log of decisions: shares as the order has them, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from affinity_bandits.audit import decision_log
from affinity_bandits.errors import InvalidInput

ROWS = {"group": ["a", "b", "a"], "score": [1, 3, 5], "initial": {"a": 1, "b": 2}}
SCALE = {"lowest": 1, "highest": 5}


def test_shares_are_exact() -> None:
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 500).tolist()
    chosen = rng.random(500) < 0.4
    moment = np.sort(rng.integers(0, 120, 500))
    log = decision_log(group, [0.5] * 500, initial={0: 5, 1: 0, 2: 7}, moment=moment, chosen=chosen)
    for row in range(500):
        earlier = [
            g for g, c, m in zip(group, chosen, moment, strict=True) if c and m < moment[row]
        ]
        own = [5, 0, 7][group[row]] + earlier.count(group[row])
        assert log.share[row] == float(Fraction(own, 12 + len(earlier)))


def test_scores_are_mapped_by_the_stated_scale() -> None:
    log = decision_log(**ROWS, **SCALE)
    assert log.score.tolist() == [0.0, 0.5, 1.0]
    assert log.groups == ("a", "b")


def test_the_beginning_of_a_log_is_the_log_of_its_beginning() -> None:
    whole = decision_log(**ROWS, **SCALE, panel=[0, 0.5, 1])
    part = decision_log(["a", "b"], [1, 3], initial=ROWS["initial"], **SCALE, panel=[0, 0.5])
    for name in ("group", "score", "share", "panel", "drawn_from", "before"):
        assert getattr(whole.first(2), name).tolist() == getattr(part, name).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [1, 7, 5]}, r"^score in row 2 must be a number from 1 to 5, got 7\.0$"),
        ({"score": [1, float("nan"), 5]}, r"^score in row 2 must be a number from 1 to 5, got nan"),
        ({"score": [1, "3", 5]}, r"^score in row 2 must be a number from 1 to 5, got '3'$"),
        ({"score": [1, 10**400, 5]}, r"^score in row 2 must be a number from 1 to 5, got 1000"),
        ({"score": [1, 3]}, r"^score must be a column of 3 rows, got '2 rows'$"),
        ({"score": 3}, r"^score must be a column of 3 rows, got 3$"),
        ({"group": []}, r"^group must be a column of at least one row, got '0 rows'$"),
        ({"group": ["a", "c", "b"]}, r"^group in row 2 must be one of those in initial, got 'c'$"),
        ({"group": ["a", None, "b"]}, r"^group in row 2 must be one of those in initial, got None"),
        ({"group": ["a", [], "b"]}, r"^group in row 2 must be one of those in initial, got \[\]$"),
        ({"initial": {"a": 1}}, r"^initial must be a table of 2 to 1,000 groups"),
        ({"initial": {"a": 0, "b": 0}}, r"^initial must be a committee of at least one member"),
        ({"initial": {"a": 1.5, "b": 0}}, r"^initial\['a'\] must be a whole number"),
        ({"highest": 1}, r"^highest must be a finite number above 1, got 1$"),
        ({"moment": [2, 1, 3]}, r"^moment in row 2 must be a number that is not below the one"),
        ({"chosen": [1, 0, 2]}, r"^chosen in row 3 must be true or false \(or 1 or 0\), got 2\.0$"),
        ({"panel": [0, 1, -0.1]}, r"^panel in row 3 must be a number from 0 to 1, got -0\.1$"),
        ({"drawn_from": [0, 1, 0.1]}, r"^drawn_from must be left out unless panels are given"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        decision_log(**{**ROWS, **SCALE, **change})
    assert "\n" not in str(caught.value)
