"""How often each way to judge chooses the wrong group where judges differ, in worlds of judges.

Groups are equally good in all rows but the last, because there a wrong choice is likeliest: then
the least favored group is watched, and dropping it is wrong. Judges vary if each gives everybody
points of their own; they are a standard deviation. One group gives more if all its judges do, to
everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from affinity_bandits.base.displays import one_line
from affinity_bandits.model.judges import JudgeWorld
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.judge_worlds import JUDGES_OWN, USUAL_SPREAD, judge_world
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.blocks import BlockPolicy
from affinity_bandits.simulation.among_judges import (
    AmongJudges,
    simulate_blocks,
    simulate_slots,
)

STRICTER = (0.1, 0.2, 0.4)
"""Differences in strictness between groups, as parts of the spread of scores."""
FAVOR_GAP = 0.34
"""How much favors differ if nobody says by how much, as a part of the spread; as audited."""
USUAL_FAVOR = 0.3
"""The favor where nothing is known of it, as a part of the spread."""
RUNS = 100
LONGEST = 3_000
"""Scores in a run at most."""
SLOTS = {"outsiders": "outsiders", "panel": "panel", "recused": "recused", "committee": "everybody"}


@dataclass(frozen=True)
class IfJudgesDiffer:
    """A row of the table.

    Attributes:
        words: how the judges or the groups are.
        wrong: runs that drop the best group.
        runs: all runs.
    """

    words: str
    wrong: int
    runs: int

    __repr__ = one_line


def wrong_if_judges_differ(
    given: Assumptions, policy: RoundPolicy | BlockPolicy, horizon: int, seed: int
) -> list[IfJudgesDiffer]:
    """Run a plan's policy where judges are alike, and where they differ in one respect each.

    Gaussian scores have no ends, as scores of judges do, so they have no rows.
    """
    if not given.bounded:
        return []
    length = min(horizon, LONGEST)
    found = []
    for words, world in unlike_worlds(given):
        outcome = run_among(given, policy, world, length, RUNS, seed)
        found.append(IfJudgesDiffer(words, outcome.wrong, RUNS))
    return found


def run_among(
    given: Assumptions,
    policy: RoundPolicy | BlockPolicy,
    world: JudgeWorld,
    horizon: int,
    runs: int,
    seed: int,
) -> AmongJudges:
    """Run a policy in a world of judges, with those who judge as assumed.

    A committee is the initial one, and those chosen join it at once, as many as stated.
    """
    if isinstance(policy, BlockPolicy):
        return simulate_blocks(policy, world, horizon, runs, seed)
    if given.judges == "committee":
        people = tuple(max(1, number) for number in given.committee or (1,) * given.groups)
        world = replace(world, judges=people, joining=given.joining)
    return simulate_slots(policy, world, SLOTS[given.judges], horizon, runs, seed)


def unlike_worlds(given: Assumptions) -> Iterator[tuple[str, JudgeWorld]]:
    """Yield worlds of judges, with a description."""
    spread = USUAL_SPREAD * given.span if given.spread is None else given.spread
    favor = USUAL_FAVOR * spread if given.bonus is None else 0.5 * given.bonus * given.span
    gap = given.favor_gap or FAVOR_GAP * spread
    same = (favor,) * given.groups
    uneven = (favor + gap,) * (given.groups - 1) + (favor,)
    equal = judge_world(given, 0.0, favors=same, judge_strictness=0.0)
    yield "equal, judges alike", equal
    own = JUDGES_OWN * spread
    yield (
        f"equal, {given.judges_per_group} judges vary by {own:.2g}",
        judge_world(given, 0.0, favors=same),
    )
    for part in STRICTER:
        more = part * spread
        lenient = tuple(more if group == equal.best else 0.0 for group in range(given.groups))
        words = f"equal, one group gives {more:.2g} more"
        yield words, replace(equal, strictness=lenient)
    yield (
        f"equal, favors differ by {gap:.2g}",
        judge_world(given, 0.0, favors=uneven, judge_strictness=0.0),
    )
    lead = given.smallest_difference
    yield (
        f"a lead of {lead:.2g}, favors differ",
        judge_world(given, lead, favors=uneven, judge_strictness=0.0),
    )
