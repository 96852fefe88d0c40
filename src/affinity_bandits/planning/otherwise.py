"""What a comparison takes if scores or the bias are not as assumed: its cost, never its safety."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from affinity_bandits.planning.assumptions import USUAL_STEEPNESS, Assumptions
from affinity_bandits.planning.hard_rounds import run_hardest
from affinity_bandits.planning.hardest import HardWorld, World, hard_worlds
from affinity_bandits.policies import RoundPolicy

RUNS = 60


@dataclass(frozen=True)
class Otherwise:
    """A line of the table.

    Attributes:
        words: what is not as assumed.
        factor: so many times the choices suffice in 95% of runs.
        more: whether that is not so, and it takes more.
    """

    words: str
    factor: float
    more: bool


def costs_otherwise(
    assumptions: Assumptions, policy: RoundPolicy, hard: HardWorld, limit: int, seed: int
) -> list[Otherwise]:
    """Return what the comparison takes in a hardest world that is changed in one respect.

    Beyond the limit it is enough to know that it takes more.
    """
    place = [str(one) for one in hard_worlds(assumptions)].index(str(hard))
    changes = list(_changes(assumptions))

    # The same streams as with the change, so that few runs tell what it makes of them.
    usual = run_hardest(hard, policy, limit, RUNS, seed).needed(0.95)
    took = [
        max(
            run_hardest(one, policy, limit, RUNS, seed).needed(0.95)
            for one in _changed(hard, hard_worlds(change)[place].world)
        )
        for _, change in changes
    ]
    return [
        Otherwise(words, min(limit, one) / min(limit, usual), one > limit)
        for (words, _), one in zip(changes, took, strict=True)
    ]


def _changed(hard: HardWorld, new: World) -> list[HardWorld]:
    """Return a world with other limits; of another spread, also where scores can have it."""
    world = hard.world._replace(
        spread=new.spread,
        steepness=new.steepness,
        strength=new.strength,
        difference=new.difference,
    )
    found = [world]
    middle = 0.5 * new.largest_mean
    if new.spread > hard.world.spread and middle > world.difference:
        found.append(world._replace(least_mean=middle, largest_mean=middle, drawn_at=middle))
    return [replace(hard, world=one) for one in found]


def _changes(given: Assumptions) -> Iterator[tuple[str, Assumptions]]:
    """Yield assumptions that differ in one respect, in words and numbers."""
    if given.spread is not None:
        largest = 0.5 * given.span
        for factor in (0.5, 1.5):
            if factor * given.spread < largest:
                changed = replace(given, spread=factor * given.spread)
                yield f"scores spread by {changed.spread:.3g}, not {given.spread:.3g}", changed
        yield "they spread as much as they can", replace(given, spread=None)
    if given.bonus and given.judges != "panel":
        twice = replace(given, bonus=2.0 * given.bonus, steepness=None)
        yield f"a bias of {200.0 * given.bonus:.3g}%, not {100.0 * given.bonus:.3g}%", twice
        if given.judges == "committee" and given.steepest < USUAL_STEEPNESS:
            yield "a bias with a tipping point", replace(given, steepness=USUAL_STEEPNESS)
    elif given.bonus is None and given.judges == "committee" and given.steepest > 1.0:
        yield "scores at most in proportion to the share", replace(given, steepness=1.0)
