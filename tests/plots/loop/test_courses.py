"""The course of a run is what its log says, and two sentences say why it failed."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Elimination, InGroupBonus
from affinity_bandits.plots.loop import Course
from affinity_bandits.plots.loop.courses import explain_failure, settle, tell_status
from affinity_bandits.simulation import simulate_log
from affinity_bandits.simulation.logs import LoggedRun
from tests.plots.loop.conftest import BANDIT


def test_a_course_is_what_its_log_says(courses: list[Course]) -> None:
    found = courses[0]
    log = simulate_log(BANDIT, "ucb1", 2_000, seed=3)
    for place in (0, 40, -1):
        choices = found.choices[place]
        so_far = log.arm[:choices]
        members = [100 + (so_far == 0).sum(), 10 + (so_far == 1).sum()]
        np.testing.assert_allclose(found.shares[place], np.array(members) / sum(members))
        assert found.right[place] == pytest.approx((so_far == 1).mean())
        late = slice(choices // 2, choices)
        for arm in (0, 1):
            own = log.score[late][log.arm[late] == arm]
            expected = own.mean() if len(own) else np.nan
            np.testing.assert_allclose(found.scores[place, arm], expected)
    assert found.choices[-1] == 2_000
    assert (np.diff(found.choices) > 0).all()


def test_a_run_is_settled_where_it_stays_with_one_group() -> None:
    chosen = np.zeros(1000, dtype=np.int64)
    chosen[:400] = np.arange(400) % 2  # compares, then stays with group 0
    # Of the latest half of n choices, (n - 400) + (400 - n / 2) / 2 go to group 0: 80% at n = 571.
    group, since = settle(chosen)
    assert group == 0
    assert since == pytest.approx(571, abs=3)
    assert settle(np.arange(1000) % 2) == (-1, 0)
    late = np.arange(1000) % 2
    late[900:] = 1
    assert settle(late) == (-1, 0)  # too late to be sure of
    assert settle(np.ones(1000, dtype=np.int64)) == (1, 10)


def test_the_status_says_what_became_of_a_run(courses: list[Course]) -> None:
    run = LoggedRun(BANDIT, Elimination(), 2_000, seed=3)
    assert run.log(0).arm[-1] in (0, 1)
    assert courses[1].decided == run.decided_at
    first = courses[0]
    for changes, said in (
        ({"decided": 1200, "group": 1, "since": 1200}, "decided after 1,200 choices"),
        ({"decided": 1200, "group": 0, "since": 1200}, "decided after 1,200 choices, wrongly"),
        ({"decided": 0, "group": 0, "since": 300}, "locked in since choice 300"),
        ({"decided": 0, "group": 1, "since": 300}, "with b since choice 300"),
        ({"decided": 0, "group": -1, "since": 0}, "still comparing"),
    ):
        assert tell_status(first._replace(**changes), "ab") == said


def taken(values: list[float], members: list[int], bonus: float, right: float) -> list[str]:
    """Explain a run of so many right choices, where those who are chosen keep their seats."""
    bandit = AffinityBandit(values, InGroupBonus(bonus), members)
    groups = ["a", "b", "c"][: len(values)]
    best = max(values)
    wrong = (1.0 - right) / max(1, sum(value < best for value in values))
    shares = [right if value == best else wrong for value in values]
    found = Course(
        "UCB1",
        np.array(values),
        np.array([10, 1000]),
        np.array([shares, shares]),
        np.full((2, len(values)), np.nan),
        np.array([0.5, right]),
        0,
        int(np.argmax(shares)),
        10,
    )
    return explain_failure(bandit, found, groups)


@pytest.mark.parametrize(
    ("values", "members", "bonus", "right", "first", "second"),
    [
        ([0.4, 0.6], [95, 5], 1.0, 0.004, "gave less than 1% of 1,000 choices to b, although "
         "they are worth 0.20 more than a", "The bias hides it: with 5% of the seats at the "
         "start, b score 0.32 on average and a 0.39"),
        ([0.4, 0.6], [50, 50], 1.0, 0.3, "gave 30% of 1,000", "They began well"),
        ([0.4, 0.6], [95, 5], 1.0, 0.9, "does not fail", "They look worse at first"),
        ([0.4, 0.6], [50, 50], 0.0, 0.9, "does not fail", "The best also look best"),
        ([0.5, 0.5], [90, 10], 1.0, 1.0, "worth the same", "who ends up on the committee"),
        ([0.6, 0.6, 0.2], [1, 1, 98], 1.0, 0.1, "choices to a and b, although they are worth "
         "0.40 more than c", "They began well"),
    ],
)  # fmt: skip
def test_two_sentences_say_why(
    values: list[float], members: list[int], bonus: float, right: float, first: str, second: str
) -> None:
    said = taken(values, members, bonus, right)
    assert len(said) == 2
    assert first in said[0]
    assert second in said[1]
