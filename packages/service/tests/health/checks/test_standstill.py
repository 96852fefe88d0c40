"""Rounds that stand still: level at a pace of one's own, controls, and what is no standstill."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits_service.health.checks import (
    FEWEST_UNANSWERED,
    LEVEL,
    AnswerTimes,
    Facts,
    find_standstill,
    longest_usual,
)

STEADY = AnswerTimes(silent=0.0, gaps=[10.0] * 99, events=400, outstanding=5, lease_seconds=60.0)


def seen(times: AnswerTimes, **changed: object) -> str | None:
    """What is said of a round that stands still; None if it does not."""
    found = find_standstill(Facts((), times=replace(times, **changed)))  # type: ignore[arg-type]
    return None if found is None else found.seen


def test_a_round_that_stands_still_is_found_once_its_pace_and_lease_do_not_explain_it() -> None:
    limit = longest_usual(STEADY)
    # 99 gaps: (400 * 401 / 0.001)^(1/99) - 1 is 0.21, times 99 gaps of 10 s.
    assert limit == pytest.approx(99 * ((400 * 401 / LEVEL) ** (1 / 99) - 1) * 10.0)
    assert seen(STEADY, silent=limit) is None
    assert seen(STEADY, silent=limit + 1) == (
        "No answer has come for 3 minutes; before that, tells came 10 seconds apart on average."
        " 5 slots that were handed out have no answer."
    )


@pytest.mark.parametrize(
    "explained",
    [
        {"lease_seconds": 3600.0},  # whoever has the slots still has time
        {"longest": 3000.0},  # as on nights before
        {"gaps": [10.0] * 98 + [2000.0]},
        {"outstanding": 0},  # nobody owes anything
        {"gaps": []},  # one tell alone has no pace
    ],
)
def test_what_is_explained_is_no_standstill(explained: dict[str, object]) -> None:
    assert seen(STEADY, silent=3600.0) is not None
    assert seen(STEADY, silent=3600.0, **explained) is None


def test_where_no_answer_came_it_takes_many_slots_and_several_leases() -> None:
    never = AnswerTimes(181.0, None, 20, FEWEST_UNANSWERED, 60.0)
    assert (seen(never) or "").startswith("No answer has come for 3 minutes. 14 slots")
    assert seen(never, silent=179.0) is None
    assert seen(never, outstanding=FEWEST_UNANSWERED - 1) is None


@pytest.mark.parametrize("number", [3, 10, 100])
def test_the_level_is_exact_for_exponential_times(number: int) -> None:
    """The factor is such that the next time is longer with LEVEL / (m (m + 1)), here made 1%."""
    random = np.random.default_rng(4)
    events = 3
    level = LEVEL / (events * (events + 1))
    factor = longest_usual(AnswerTimes(0.0, [1.0] * number, events, 1, 1e-9))
    assert (1 + factor / number) ** -number == pytest.approx(level)
    # The same formula at 1%: of 20,000, 200 +- 5 * 14 are longer.
    factor = number * (0.01 ** (-1 / number) - 1)
    gaps = random.exponential(size=(20_000, number + 1))
    longer = (gaps[:, -1] > factor * gaps[:, :-1].mean(axis=1)).sum()
    assert abs(longer - 200) < 70


@pytest.mark.slow
def test_sound_campaigns_give_no_finding() -> None:
    found = 0
    for seed in range(1000):
        random = np.random.default_rng((8, seed))
        count = 80
        # The pace drifts up to threefold; leases are short, so that they explain nothing.
        mean = 10.0 * np.exp(np.linspace(0.0, random.uniform(-1.1, 1.1), count))
        gaps = list(random.exponential(mean))
        found += any(
            seen(AnswerTimes(gaps[n], gaps[max(0, n - 100) : n], 2 * n + 2, 3, 0.001))
            for n in range(1, count)
        )
    # 0.001 each: more than 5 of 1,000 have a probability below 0.001.
    assert found <= 5
