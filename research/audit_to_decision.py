"""From an audit to a decision, many times: `python -m research.audit_to_decision [--json]`.

Three groups of eight judges each, who favor their own by .57, .23 and .50 stars and whose groups
differ in strictness. For each seed past scores are drawn and audited, the planner takes its answers
from the audit and says who should judge, and the comparison is played as it says. Panels of equal
seats, planned for judges who are all alike, are the control.

    walk.<world>.neutral           seeds in which the plan recommends neutral blocks
    walk.<world>.wrong             seeds in which the recommended comparison drops the best group
    walk.<world>.decided           seeds in which it is decided within 20,000 scores
    walk.<world>.panels.wrong      the same for panels, with the scores that their plan calls enough
    walk.<world>.panels.decided

The worlds are "equal", where all groups are equally good and the least favored one is watched, and
"lead", where that one is better by .3 stars.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from affinity_bandits import JudgeWorld, PanelElimination, simulate_blocks, simulate_slots
from affinity_bandits.audit import ScoreLog, audit_scores, score_log
from affinity_bandits.audit.result import to_json
from affinity_bandits.model.judges import on_scale, stretched
from affinity_bandits.planning.from_audit import answers_of_audit
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.rule import ways_by_rule
from affinity_bandits.planning.situation import Situation
from affinity_bandits.policies import NeutralElimination
from checks.bench.measure import make_parser, report
from research.judge_worlds import stars

SEEDS = 200
CANDIDATES = 210
JUDGES_EACH = 3
MIDDLE = 3.0
HORIZON, PANEL_SCORES = 20_000, 1_400
WORLDS = {
    "equal": stars(3, group_strictness=0.2),
    "lead": stars(3, group_strictness=0.2, lead=0.3),
}


def past_scores(world: JudgeWorld, rng: np.random.Generator) -> ScoreLog:
    """Draw a log in which three judges, drawn by lot, scored each candidate."""
    judges = world.draw(rng)
    names = [f"group {number}" for number in range(world.groups)]
    columns: dict[str, list[str]] = {name: [] for name in ("candidate", "group", "judge", "own")}
    scores: list[float] = []
    for number in range(CANDIDATES):
        group = number % world.groups
        quality = judges.quality[group] + world.spread * rng.normal()
        for judge in rng.choice(world.groups * 8, JUDGES_EACH, replace=False):
            own, person = divmod(int(judge), 8)
            points = stretched(quality, judges.slopes[own], MIDDLE)
            points += judges.strictness[own, person] + judges.favors[group] * (own == group)
            points += world.error * rng.normal()
            scores.append(float(on_scale(np.array([points]), world.lowest, world.highest)[0]))
            row = (f"c{number}", names[group], f"j{judge}", names[own])
            for column, cell in zip(columns.values(), row, strict=True):
                column.append(cell)
    return score_log(
        columns["candidate"],
        columns["group"],
        scores,
        scale=(1, 5),
        judge=columns["judge"],
        judge_group=columns["own"],
    )


def answers(log: ScoreLog) -> dict[str, Any]:
    """Return what an audit of a log tells a plan, and what the log cannot know."""
    found = json.loads(to_json(audit_scores(log, draws=20), log, source="past scores"))
    return answers_of_audit(found) | {"difference": "0.3", "budget": f"{HORIZON}"}


def walked(world: JudgeWorld, seed: int) -> tuple[str, bool, bool]:
    """Return who should judge, and whether the comparison drops the best group and is decided."""
    told = Situation()
    told.answer_all(answers(past_scores(world, np.random.default_rng([seed, 1]))))
    given = told.assumptions()
    (way, *_), *_ = ways_by_rule(given)
    if way != "neutral":
        return way, False, False
    policy = policy_for(replace(given, judges=way))
    assert isinstance(policy, NeutralElimination)
    run = simulate_blocks(policy, world, HORIZON, 1, seed)
    return way, bool(run.wrong), bool(run.decided[0])


def measured(seeds: int) -> Iterator[tuple[str, float]]:
    """Yield all figures."""
    panels = PanelElimination(bounded=True, failure=0.05, target=PANEL_SCORES)
    for name, world in WORLDS.items():
        found = [walked(world, seed) for seed in range(seeds)]
        yield f"walk.{name}.neutral", sum(way == "neutral" for way, *_ in found)
        yield f"walk.{name}.wrong", sum(wrong for _, wrong, _ in found)
        yield f"walk.{name}.decided", sum(decided for *_, decided in found)
        run = simulate_slots(panels, world, "panel", PANEL_SCORES, seeds, 1)
        yield f"walk.{name}.panels.wrong", run.wrong
        yield f"walk.{name}.panels.decided", int(run.decided.sum())


def main() -> int:
    """Measure, and print or write the figures."""
    parser = make_parser(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="walks per world")
    arguments = parser.parse_args()
    report(dict(measured(arguments.seeds)), arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
