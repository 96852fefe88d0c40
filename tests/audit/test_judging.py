"""How the judges of groups differ: strictness and favors with intervals, and what a plan takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.audit.conclude import audit_scores
from affinity_bandits.audit.judging import compare_judges, t_quantile
from affinity_bandits.audit.log import ScoreLog, score_log
from affinity_bandits.audit.result import read_result, to_json
from affinity_bandits.planning.from_audit import answers_of_audit, tell_judging
from affinity_bandits.planning.rule import ways_by_rule
from affinity_bandits.planning.situation import Situation

FAVORS = (0.9, 0.1, 0.6)
STRICTNESS = (0.0, 0.3, -0.3)
STARS = (1.0, 5.0)


def draw(
    favors: Sequence[float],
    seed: int = 0,
    strictness: Sequence[float] = STRICTNESS,
    candidates: int = 60,
) -> ScoreLog:
    """Draw scores from 1 to 5: eight judges per group, six by lot for each candidate."""
    rng = np.random.default_rng(seed)
    groups, judges = len(favors), 8
    given = rng.normal(0.0, 0.4, (groups, judges)) + np.array(strictness[:groups])[:, None]
    rows = []
    for group in range(groups):
        for candidate in range(candidates):
            quality = 3.0 + rng.normal(0.0, 0.6)
            for place in rng.permutation(groups * judges)[:6]:
                own, judge = divmod(int(place), judges)
                points = quality + given[own, judge] + rng.normal(0.0, 0.5)
                points += favors[group] * (own == group)
                rows.append(
                    (f"{group}.{candidate}", "abc"[group], points, f"{own}.{judge}", "abc"[own])
                )
    candidate_, group_, score, judge_, judge_group = zip(*rows, strict=True)
    return score_log(
        candidate_,
        group_,
        np.clip(score, *STARS),
        scale=STARS,
        judge=judge_,
        judge_group=judge_group,
    )


@pytest.mark.slow
def test_intervals_cover_what_judges_are_like() -> None:
    """60 logs with three differences each, which depend on each other: 95% of 60 are 57.

    For each of the six figures, 50 or fewer of 60 have probability 4e-4 at 95%, and 2% at 90%.
    Measured over 150 logs is .92 to .95.
    """
    covered = np.zeros(6, dtype=int)
    deviations, more = [], [FAVORS[0] - FAVORS[1], FAVORS[0] - FAVORS[2], FAVORS[1] - FAVORS[2]]
    for seed in range(60):
        found = compare_judges(draw(FAVORS, seed))
        assert found is not None
        assert found.deviation is not None
        deviations.append(found.deviation)
        ends = [(one.low, one.high) for one in found.favors]
        ends += [(one.low, one.high) for one in found.strictness]
        for place, (one, true) in enumerate(zip(ends, (*more, *STRICTNESS), strict=True)):
            covered[place] += one[0] <= true <= one[1]
    assert covered.min() > 50
    # A deviation of .4 with 21 degrees of freedom: 60 of them have a mean within .03; scores that
    # are cut off at the ends take a little of it.
    assert 0.33 < np.mean(deviations) < 0.43


def test_two_groups_have_one_favor_and_no_strictness() -> None:
    found = compare_judges(draw((0.9, 0.1)))
    assert found is not None
    assert (found.favors, found.favor_gap, found.strictness) == ((), None, ())
    assert found.deviation is not None


def test_judges_without_names_are_not_compared() -> None:
    log = draw(FAVORS)
    rows = range(len(log))
    unnamed = score_log(
        [log.candidate[row] for row in rows],
        [log.groups[log.group[row]] for row in rows],
        [1.0 + 4.0 * log.score[row] for row in rows],
        scale=STARS,
        judge_group=[log.groups[log.judge_group[row]] for row in rows],
    )
    assert compare_judges(unnamed) is None


@pytest.mark.parametrize(("freedom", "exact"), [(3, 3.182), (5, 2.571), (10, 2.228), (21, 2.080)])
def test_the_quantile_of_few_judges(freedom: int, exact: float) -> None:
    """As in tables of Student's t; by chance an interval of normal width would be too short."""
    assert t_quantile(freedom) == pytest.approx(exact, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("favors", "ways", "words"),
    [
        (FAVORS, [("neutral",), ("panel",)], "Favors differ: judges from a favor their own by"),
        ((0.9, 0.1), [], "With two groups scores cannot tell by how much each favors its own"),
    ],
)
def test_from_a_log_to_the_recommended_way(
    favors: Sequence[float], ways: list[tuple[str, ...]], words: str, tmp_path: Path
) -> None:
    """A favor of .9 against .1 is found: the interval of the difference is about .3 to each side.

    The stated gap of about 1.1 points can hide .37 on a panel of three groups, less than half a
    point; with two groups it is unknown.
    """
    log = draw(favors, seed=1)
    path = tmp_path / "audit.json"
    path.write_text(to_json(audit_scores(log, draws=200), log, source="made"))
    found = read_result(path)
    assert json.loads(path.read_text())["judging"] == found["judging"]
    answers = answers_of_audit(found)
    assert answers["judges_per_group"] == "8"
    assert answers["strictness"] == "no idea"
    if len(favors) == 3:
        assert 0.8 < float(answers["favor_gap"]) < 1.4
    else:
        assert answers["favor_gap"] == "no idea"
    assert words in " ".join(tell_judging(found))
    situation = Situation(date(2027, 1, 1))
    situation.answer_all(answers | {"difference": "0.5", "budget": "2000"})
    given = situation.assumptions()
    assert ways_by_rule(given) == ways
    situation = Situation(date(2027, 1, 1))
    situation.answer_all(answers | {"difference": "0.5", "budget": "2000", "outsiders": "yes"})
    assert ways_by_rule(situation.assumptions())[0] == ("outsiders",)
