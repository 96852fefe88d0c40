"""Runs in worlds of judges (`model.judges`): block policies, and policies of single slots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.kernels.compile import cacheable, compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.judges import JudgesOfRun, JudgeWorld, join_judges, score_given
from affinity_bandits.policies import BlockPolicy, RoundPolicy, StepPolicy
from affinity_bandits.policies.blocks import require_blocks
from affinity_bandits.policies.live import as_steps

RECUSED, PANEL, EVERYBODY, RIVALS, OUTSIDERS = 0, 1, 2, 3, 4
WAYS = {
    "recused": RECUSED,
    "panel": PANEL,
    "everybody": EVERYBODY,
    "rivals": RIVALS,
    "outsiders": OUTSIDERS,
}
"""Who judges a single slot: people from other groups, a panel with equal seats for each group,
anybody of all groups, a panel without the group that leads, or only people of no group."""

rater_of: Function = unbound
draw: Function = unbound
take: Function = unbound
choose: Function = unbound
update: Function = unbound
candidate: Function = unbound
fewest_seats: Function = unbound
opens: Function = unbound
meet: Function = unbound


class AmongJudges(NamedTuple):
    """The outcomes of all runs.

    Attributes:
        scores: in the run.
        decided: whether one group was left by then.
        dropped_best: whether the best group was dropped.
        kept: the group that was left; -1 if several.
        pulls: scores of each group's candidates, [run, group].
    """

    scores: IntArray
    decided: IntArray
    dropped_best: IntArray
    kept: IntArray
    pulls: IntArray

    @property
    def wrong(self) -> int:
        """The number of runs in which the best group was dropped."""
        return int(self.dropped_best.sum())


@kernel
def play_blocks(
    state: object,
    world: JudgesOfRun,
    horizon: int,
    found: IntArray,
    pulls: IntArray,
    order: IntArray,
    scores: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Play blocks until one group is left, or the next block would exceed the horizon.

    `found` gets the number of scores, `pulls` those of each group.
    """
    person, stays = 0, False
    while True:
        kind = rater_of(state)
        if kind < 0:
            return
        size = draw(state, order, rng)
        if found[0] + size > horizon:
            return
        if world.by_lot:
            person = int(rng.random() * world.people[kind])
        elif not stays:
            person += 1
        person = int(person % world.people[kind])
        for place in range(size):
            group = order[place]
            scores[group] = score_given(world, group, kind, person, found[0], place, rng)
            join_judges(world, group, rng)
            pulls[group] += 1
            found[0] += 1
        stays = scores[order[size - 1]] >= scores[order[0]]
        take(state, scores)


@kernel
def drawn_rater(
    world: JudgesOfRun, way: int, group: int, seats: IntArray, rng: np.random.Generator
) -> int:
    """Return the group of the rater of a slot; nobody of a group without seats."""
    groups = len(world.quality)
    if way == OUTSIDERS:
        return groups
    if way == PANEL and len(world.own_part) > 0:
        if rng.random() < world.own_part[group]:
            return group
        return int(group + 1 + int(rng.random() * (groups - 1))) % groups
    while True:
        rater = int(rng.random() * groups)
        if way in (RECUSED, EVERYBODY):
            place = int(rng.random() * world.people[:groups].sum())
            rater = 0
            while place >= world.people[rater]:
                place -= world.people[rater]
                rater += 1
        if seats[rater] > 0 and (way != RECUSED or rater != group):
            return rater


@kernel
def play_slots(
    state: object,
    world: JudgesOfRun,
    way: int,
    horizon: int,
    best: int,
    seats: IntArray,
    found: IntArray,
    pulls: IntArray,
    rng: np.random.Generator,
) -> None:
    """Play slots, one rater each, until one group is left.

    `found` gets the scores, the number of groups left, and whether the best is one of them;
    `pulls` gets the scores of each group.
    """
    groups = len(world.quality)
    for clock in range(horizon):
        if opens(state):
            leader = fewest_seats(state)
            for other in range(groups):
                seats[other] = 1
                if way == OUTSIDERS or (way == RIVALS and other == leader):
                    seats[other] = 0
                elif way == EVERYBODY:
                    seats[other] = world.people[other]
            meet(state, seats)
        group = choose(state, rng)
        rater = drawn_rater(world, way, group, seats, rng)
        person = int(rng.random() * world.people[rater])
        update(state, group, score_given(world, group, rater, person, clock, 0, rng))
        join_judges(world, group, rng)
        pulls[group] += 1
        found[0] = clock + 1
        if opens(state):
            found[1] = 0
            for other in range(groups):
                if candidate(state, other):
                    found[1] += 1
            found[2] = 1 if candidate(state, best) else 0
            if found[1] == 1:
                return


def simulate_blocks(
    policy: BlockPolicy, world: JudgeWorld, horizon: int, runs: int, seed: int = 0
) -> AmongJudges:
    """Run a block policy in a world of judges.

    Run r draws its judges, then its lots and scores, from numpy's generator of (seed, r).

    Args:
        policy: the settings.
        world: candidates and judges.
        horizon: scores in a run at most.
        runs: how many.
        seed: of all random numbers.
    """
    _check_run(world, horizon, runs, seed)
    kernels = require_blocks(policy).kernels()
    told = {"rater_of": kernels.rater, "draw": kernels.draw, "take": kernels.take}
    loop = compile_kernel(bind(play_blocks, **told), inlined=False)
    results = _empty(runs, world.groups)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        state = policy.start(world.groups, horizon)
        order, scores = np.zeros(world.groups, dtype=np.int64), np.zeros(world.groups)
        found = np.zeros(1, dtype=np.int64)
        pulls = results.pulls[run]
        loop(cacheable(state), world.draw(rng), horizon, found, pulls, order, scores, rng)
        left = [group for group in range(world.groups) if kernels.candidate(state, group)]
        _write(results, run, int(found[0]), left, world.best)
    return results


def simulate_slots(
    policy: StepPolicy | RoundPolicy,
    world: JudgeWorld,
    judges: str,
    horizon: int,
    runs: int,
    seed: int = 0,
) -> AmongJudges:
    """Run a policy that gets one score from one rater at a time, in a world of judges.

    Args:
        policy: a policy that drops groups.
        world: candidates and judges.
        judges: who scores a slot: "recused" (other groups), "panel" (equal seats), "everybody",
            "rivals" (a panel on which the leading group of the round has no seat) or "outsiders".
        horizon: scores in a run at most.
        runs: how many.
        seed: of all random numbers.
    """
    way = WAYS[checks.choice("judges", judges, tuple(WAYS))]
    _check_run(world, horizon, runs, seed)
    steps = as_steps(policy)
    if not steps.eliminates:
        raise NotSupported(f"{policy} drops no group; take a policy that eliminates")
    kernels = steps.kernels()
    loop = compile_kernel(
        bind(
            play_slots,
            choose=kernels.select,
            update=kernels.update,
            candidate=kernels.candidate,
            fewest_seats=kernels.fewest_seats,
            opens=kernels.opens,
            meet=kernels.meet,
        ),
        inlined=False,
    )
    results = _empty(runs, world.groups)
    # Of a committee also who is on the way: nobody, since those who join judge at once.
    seats = np.zeros(3 * world.groups, dtype=np.int64)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        state = steps.start(world.groups, horizon)
        found = np.zeros(3, dtype=np.int64)
        loop(
            cacheable(state),
            world.draw(rng),
            way,
            horizon,
            world.best,
            seats,
            found,
            results.pulls[run],
            rng,
        )
        left = [group for group in range(world.groups) if kernels.candidate(state, group)]
        _write(results, run, int(found[0]), left, world.best)
    return results


def _check_run(world: object, horizon: int, runs: int, seed: int) -> None:
    if not isinstance(world, JudgeWorld):
        raise InvalidInput("world", "a JudgeWorld", world)
    checks.integer("horizon", horizon, low=1)
    checks.integer("runs", runs, low=1)
    checks.integer("seed", seed, low=0, high=2**128)


def _empty(runs: int, groups: int) -> AmongJudges:
    scores, decided, dropped_best, kept = (np.zeros(runs, dtype=np.int64) for _ in range(4))
    pulls = np.zeros((runs, groups), dtype=np.int64)
    return AmongJudges(scores, decided, dropped_best, kept, pulls)


def _write(results: AmongJudges, run: int, scores: int, left: list[int], best: int) -> None:
    results.scores[run] = scores
    results.decided[run] = len(left) == 1
    results.dropped_best[run] = best not in left
    results.kept[run] = left[0] if len(left) == 1 else -1
