"""What a plan costs if the spread of the scores or the bias is not as assumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from affinity_bandits.planning.assumptions import USUAL_STEEPNESS, Assumptions
from affinity_bandits.planning.runs import run_hardest
from affinity_bandits.planning.worlds import (
    NO_LIMIT,
    HardWorld,
    WorldLimits,
    hard_worlds,
)
from affinity_bandits.planning.worst_worlds import vary_means
from affinity_bandits.policies import RoundPolicy

OTHERWISE_RUNS = 60
JUMP = 1e300  # the steepness of a bias that jumps


@dataclass(frozen=True)
class Otherwise:
    """A line of the table.

    Attributes:
        words: the difference from the assumptions.
        factor: the choices that suffice in 95% of runs, relative to the plan's.
        more: whether even that factor is too small.
    """

    words: str
    factor: float
    more: bool


def costs_otherwise(
    assumptions: Assumptions, policy: RoundPolicy, hard: HardWorld, limit: int, seed: int
) -> list[Otherwise]:
    """Return the cost in a hardest world that is changed in one respect, up to a limit."""
    place = [str(one) for one in hard_worlds(assumptions)].index(str(hard))
    # Common random numbers, so that few runs show the effect of a change.
    usual = run_hardest(hard, policy, limit, OTHERWISE_RUNS, seed).count_needed(0.95)
    found = []
    new = [
        (words, _changed(hard, hard_worlds(change)[place].world))
        for words, change in _changes(assumptions)
    ]
    if assumptions.judges == "committee" and assumptions.steepest > 0.0:
        plain = hard_worlds(assumptions)[place]
        jump = replace(plain, world=plain.world._replace(steepness=JUMP, lipschitz=NO_LIMIT))
        new.append(("a bias that jumps at equal shares", vary_means(jump)))
    for words, changed in new:
        took = max(
            run_hardest(one, policy, limit, OTHERWISE_RUNS, seed).count_needed(0.95)
            for one in changed
        )
        found.append(Otherwise(words, min(limit, took) / min(limit, usual), took > limit))
    return found


def _changed(hard: HardWorld, new: WorldLimits) -> list[HardWorld]:
    """Return a world with other limits; with a larger spread, also one at the middle mean."""
    names = ("spread", "steepness", "strength", "difference")
    world = hard.world._replace(**{name: getattr(new, name) for name in names})
    found = [world]
    middle = 0.5 * new.largest_mean
    if new.spread > hard.world.spread and middle > world.difference:
        found.append(world._replace(least_mean=middle, largest_mean=middle, drawn_at=middle))
    return [replace(hard, world=one) for one in found]


def spreads_otherwise(given: Assumptions) -> Iterator[tuple[str, Assumptions]]:
    """Yield assumptions with other spreads of the scores, with a description."""
    if given.spread is not None:
        largest = 0.5 * given.span
        for factor in (0.5, 1.5):
            if factor * given.spread < largest:
                changed = replace(given, spread=factor * given.spread)
                yield f"scores spread by {changed.spread:.3g}, not {given.spread:.3g}", changed
        yield "they spread as much as they can", replace(given, spread=None)


def _changes(given: Assumptions) -> Iterator[tuple[str, Assumptions]]:
    """Yield changed assumptions, with a description."""
    yield from spreads_otherwise(given)
    if given.judges in ("panel", "outsiders"):
        return
    if given.bonus:
        twice = replace(given, bonus=2.0 * given.bonus, steepness=None)
        yield f"a bias of {200.0 * given.bonus:.3g}%, not {100.0 * given.bonus:.3g}%", twice
        if given.judges == "committee" and given.steepest < USUAL_STEEPNESS:
            yield "a bias with a tipping point", replace(given, steepness=USUAL_STEEPNESS)
    elif given.bonus is None and given.judges == "committee" and given.steepest > 1.0:
        yield "scores at most in proportion to the share", replace(given, steepness=1.0)
