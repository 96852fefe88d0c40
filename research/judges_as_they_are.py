"""Is the best group kept if judges differ in strictness, favor and use of the scale, and the price?

`python -m research.judges_as_they_are [--json]`. Worlds are those of `research/judge_worlds.py`.
Where all groups are equally good, the least favored one is watched: dropping it is wrong. Neutral
blocks promise at most 5%, in every world in which no third group has a taste. Crossed blocks
promise it if they are told how much favors differ; told half of it, or nothing, they are a control.
Recusal and panels run in the same worlds as another. `--runs` is the number of runs per line
(1,000).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from affinity_bandits import (
    CrossedElimination,
    JudgeWorld,
    NeutralElimination,
    PanelElimination,
    RecusalElimination,
    simulate_blocks,
    simulate_slots,
)
from affinity_bandits.model.judges import on_scale, stretched
from affinity_bandits.simulation import AmongJudges
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import make_parser, report
from research.judge_worlds import (
    CROSSED,
    CROSSED_HELD_OUT,
    END_OF_SCALE,
    HELD_OUT,
    KNOWN,
    MODELS,
    TASTES,
    stars,
)

RUNS = 1_000
LONG, SHORT = 20_000, 3_000
"""Scores in a run: as long as comparisons last, and as long as the planned ones."""
BUDGET = {
    "recused": {2: 1_500, 3: 2_250, 4: 3_350},
    "panel": {2: 900, 3: 1_400, 4: 2_200},
}
"""About what a plan calls enough, for judges who are all alike."""
TARGET = {2: 900, 3: 1_500, 4: 2_000}
SLOTS = {"recused": RecusalElimination, "panel": PanelElimination}
CROSSED_LEADS = (0.3, 0.6)
GAPS = {"true": 1.0, "half": 0.5, "none": 0.0, "double": 2.0}
"""What crossed blocks are told about how much favors differ, as a part of the truth."""

LEADS = (0.1, 0.2, 0.4)
"""Points by which the best family of models is better than the next, on a scale from 1 to 10."""

LEADERBOARD = 3_200
"""Scores after which the highest mean of all judges is taken for the best."""


def wrong(name: str, runs: AmongJudges) -> Iterator[tuple[str, float]]:
    """Yield the fraction of runs that drop the best group, and its upper 95% limit."""
    part, _, upper = proportion_interval(runs.wrong, len(runs.scores), 0.95)
    yield f"{name}.wrong", part
    yield f"{name}.upper", upper


def price(name: str, runs: AmongJudges) -> Iterator[tuple[str, float]]:
    """Yield the mean and the 95th percentile of scores, and the fraction of decided runs."""
    yield f"{name}.mean", float(runs.scores.mean())
    yield f"{name}.p95", float(np.quantile(runs.scores, 0.95))
    yield f"{name}.decided", float(runs.decided.mean())


def neutral_worlds() -> dict[str, tuple[JudgeWorld, bool]]:
    """Return worlds in which the promise is 5%, and whether outsiders judge."""
    worlds = {f"known.{name}": (world, False) for name, world in KNOWN.items()}
    worlds |= {f"held_out.{name}": (world, False) for name, world in HELD_OUT.items()}
    uneven = {"group_strictness": 0.4, "drift": 0.3}
    two = stars(2, slopes=(1.3, 1), **uneven)
    return worlds | {
        "outsiders.two groups": (two, True),
        "outsiders.three groups": (stars(3, slopes=(1.3, 1, 1), **uneven), True),
    }


def crossed(world: JudgeWorld, part: float = 1.0) -> CrossedElimination:
    """Return crossed blocks that are told this part of how much a world's favors differ."""
    gap = (max(world.favors) - min(world.favors)) / (world.highest - world.lowest)
    return CrossedElimination(favor_gap=part * gap)


def without_outsiders(runs: int) -> Iterator[tuple[str, float]]:
    """Yield what crossed blocks, and panels without the leading group's judges, do and cost."""
    for kind, worlds in (("known", CROSSED), ("held_out", CROSSED_HELD_OUT)):
        for name, world in worlds.items():
            found = simulate_blocks(crossed(world), world, LONG, runs, 7)
            yield from wrong(f"crossed.{kind}.{name}", found)
    for told, gap in (("none", 0.0), ("favor", END_OF_SCALE.favors[0])):
        policy = CrossedElimination(favor_gap=gap / (END_OF_SCALE.highest - END_OF_SCALE.lowest))
        found = simulate_blocks(policy, END_OF_SCALE, LONG, runs, 8)
        yield from wrong(f"crossed.end_of_scale.{told}", found)
    for groups in (2, 3, 4):
        world = stars(groups, group_strictness=0.4)
        for told, part in GAPS.items():
            found = simulate_blocks(crossed(world, part), world, LONG, runs, 8)
            yield from wrong(f"crossed.told.{told}.{groups}", found)
        panels = PanelElimination(bounded=True, failure=0.05, target=BUDGET["panel"][groups])
        found = simulate_slots(panels, world, "rivals", LONG, runs, 8)
        yield from wrong(f"crossed.rivals.{groups}", found)
        for lead in CROSSED_LEADS:
            differ = stars(groups, lead=lead, group_strictness=0.2)
            same = stars(groups, lead=lead, group_strictness=0.2, favors=(0.3,) * groups)
            for favor, world in (("differ", differ), ("same", same)):
                for told, part in GAPS.items():
                    found = simulate_blocks(crossed(differ, part), world, LONG, runs, 9)
                    yield from price(f"crossed.price.{told}.{groups}.{lead:g}.{favor}", found)
                found = simulate_slots(panels, world, "rivals", LONG, runs, 9)
                yield from price(f"crossed.price.rivals.{groups}.{lead:g}.{favor}", found)


def families(lead: float) -> JudgeWorld:
    """Return the families of models with that lead of the best, which is the least favored."""
    first, _, third, fourth = MODELS.quality
    quality = (first, third + lead, third, fourth)
    told = {name: getattr(MODELS, name) for name in MODELS.__dataclass_fields__}
    return JudgeWorld(**told | {"quality": quality})


def leaderboard(world: JudgeWorld, scores: int, runs: int, seed: int) -> float:
    """Return how often the highest mean of all judges' scores is not that of the best group.

    Judges of every group score as many candidates of every group. The unit of the scale is 1.
    """
    groups, missed = world.groups, 0
    each, middle = scores // groups**2, 0.5 * (world.lowest + world.highest)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        judges = world.draw(rng)
        means = np.zeros(groups)
        for group in range(groups):
            for rater in range(groups):
                quality = judges.quality[group] + world.spread * rng.normal(size=each)
                points = stretched(quality, judges.slopes[rater], middle)
                points += judges.strictness[rater, rng.integers(judges.people[rater], size=each)]
                points += judges.favors[group] * (rater == group)
                points += world.error * rng.normal(size=each)
                means[group] += on_scale(points, world.lowest, world.highest).mean() / groups
        missed += int(means.argmax()) != world.best
    return missed / runs


def measured(runs: int) -> Iterator[tuple[str, float]]:
    """Yield all figures."""
    for name, (world, outsiders) in neutral_worlds().items():
        policy = NeutralElimination(outsiders=outsiders)
        yield from wrong(f"as_they_are.{name}", simulate_blocks(policy, world, LONG, runs, 1))
    for name, world in TASTES.items():
        found = simulate_blocks(NeutralElimination(), world, SHORT, runs, 2)
        yield from wrong(f"as_they_are.tastes.{name}", found)
    for groups in (2, 3, 4):
        lead = stars(groups, lead=0.3, group_strictness=0.2)
        same = stars(groups, lead=0.3, group_strictness=0.2, favors=(0.3,) * groups)
        blocks = {"outsiders": NeutralElimination(outsiders=True)}
        if groups > 2:
            blocks["neutral"] = NeutralElimination()
            blocks["neutral_with_target"] = NeutralElimination(target=TARGET[groups])
        for name, policy in blocks.items():
            for favor, world in (("differ", lead), ("same", same)):
                found = simulate_blocks(policy, world, LONG, runs, 3)
                yield from price(f"as_they_are.price.{name}.{groups}.{favor}", found)
        panels = PanelElimination(bounded=True, failure=0.05, target=BUDGET["panel"][groups])
        for favor, world in (("differ", lead), ("same", same)):
            found = simulate_slots(panels, world, "panel", LONG, runs, 3)
            yield from price(f"as_they_are.price.panel.{groups}.{favor}", found)
        for way, kind in SLOTS.items():
            budget = BUDGET[way][groups]
            slots = kind(bounded=True, failure=0.05, target=budget)
            for strictness in (0.0, 0.2, 0.4):
                uneven = stars(groups, group_strictness=strictness)
                found = simulate_slots(slots, uneven, way, budget, runs, 4)
                yield from wrong(f"as_they_are.control.{way}.{groups}.sd_{strictness:g}", found)
    alike = stars(2, favors=(0.3, 0.3), judge_strictness=0.0)
    for way, kind in SLOTS.items():
        slots = kind(bounded=True, failure=0.05, target=BUDGET[way][2])
        found = simulate_slots(slots, alike, way, BUDGET[way][2], runs, 4)
        yield from wrong(f"as_they_are.control.{way}.2.alike", found)
    everybody = PanelElimination(bounded=True, failure=0.05)
    for points in LEADS:
        world = families(points)
        name = f"as_they_are.models.{points:g}"
        found = simulate_blocks(NeutralElimination(), world, LONG, runs, 5)
        yield from (*wrong(f"{name}.neutral", found), *price(f"{name}.neutral", found))
        found = simulate_slots(everybody, world, "everybody", LONG, runs, 5)
        yield from (*wrong(f"{name}.everybody", found), *price(f"{name}.everybody", found))
        yield f"{name}.leaderboard.wrong", leaderboard(world, LEADERBOARD, runs, 6)
    yield from without_outsiders(runs)


def summary(figures: dict[str, float]) -> dict[str, float]:
    """Return the figures of the documentation's first lines besides."""
    promised = ("known", "held_out", "outsiders")
    found = [one for one in figures if one.startswith("as_they_are.")]
    found = [one for one in found if one.split(".")[1] in promised]
    blocks = [one for one in figures if one.startswith(("crossed.known", "crossed.held_out"))]
    return figures | {
        "crossed.worlds": len([one for one in blocks if one.endswith(".wrong")]),
        "crossed.worst": max(figures[one] for one in blocks if one.endswith(".wrong")),
        "crossed.worst_upper": max(figures[one] for one in blocks if one.endswith(".upper")),
        "as_they_are.worlds": len([one for one in found if one.endswith(".wrong")]),
        "as_they_are.worst": max(figures[one] for one in found if one.endswith(".wrong")),
        "as_they_are.worst_upper": max(figures[one] for one in found if one.endswith(".upper")),
    }


def main() -> int:
    """Measure, and print or write the figures."""
    parser = make_parser(__doc__ or "")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs per line")
    arguments = parser.parse_args()
    report(summary(dict(measured(arguments.runs))), arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
