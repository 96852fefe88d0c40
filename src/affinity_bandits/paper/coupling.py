"""The coupling behind Figure 5: UCB pulls the favoured arm more in the biased environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity_bandits.paper.coupled_path import (
    BIASED,
    EMPTY,
    FAILURES,
    FROM_QUEUE,
    FROZEN,
    GOOD,
    SUFFICIENT,
    Path,
    World,
    coupled_path,
    random_constants,
    world_of,
)
from affinity_bandits.paper.evidence import LEVEL, always
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import line_style, new_panels
from affinity_bandits.streams import generator, stream_key
from affinity_bandits.theory.ucb import STATIC_PULLS

PRINTED, COMMON = "printed", "common numbers"
COUPLINGS = {PRINTED: True, COMMON: False}
ENVIRONMENTS = {BIASED: "biased", FROZEN: "frozen"}
PUBLISHED = ((0.9, 0.8), (10, round(STATIC_PULLS**1.5)), STATIC_PULLS)
SHOWN = ((0.9, 0.8), (5, 1000), 300)
SMALL = ((0.9, 0.8), (1, 10), 8)


@dataclass(frozen=True)
class Settings:
    """How many worlds and paths; `frozen_scale` above 1 breaks the premise on purpose."""

    worlds: int
    paths: int
    short_paths: int
    published_paths: int = 50
    published_horizon: int = 20_000
    horizon: int = 3_000
    shown_paths: int = 6
    short: int = 12
    frozen_scale: float = 1.0
    seed: int = 0


def run(settings: Settings, runner: CellRunner) -> Data:
    """Walk both couplings through the paper's world, random ones, and a small one."""
    del runner  # a coupling is not a cell
    rows: list[dict[str, Any]] = []
    for name, queues in COUPLINGS.items():
        plans = [(PUBLISHED, settings.published_paths, settings.published_horizon)]
        plans += [
            (random_constants(settings.seed, number), settings.paths, settings.horizon)
            for number in range(settings.worlds)
        ]
        for number, (constants, paths, horizon) in enumerate(plans):
            world = world_of(constants, horizon, settings.frozen_scale)
            walked = list(walks(world, paths, settings.seed, number, queues))
            rows.append({"kind": "world", "coupling": name, **_totals(walked, horizon)})
        rows += _marginals(settings, name, queues)
        rows += _curves(settings, name, queues)
    columns = ("kind", "coupling", "environment")
    numbers = sorted({key for row in rows for key in row} - {*columns})
    return {
        **{key: [row.get(key, "") for row in rows] for key in columns},
        **{key: [float(row.get(key, np.nan)) for row in rows] for key in numbers},
    }


def walks(world: World, paths: int, seed: int, number: int, queues: bool) -> Iterator[Path]:
    """Yield the paths of a world; the number tells the streams of worlds apart."""
    key = stream_key(seed, "noise")
    for path in range(paths):
        yield coupled_path(world, generator(key, (number << 32) + path), queues=queues)


def _totals(walked: Sequence[Path], horizon: int) -> dict[str, float]:
    counts = np.array([path.counts for path in walked])
    sufficient = counts[:, SUFFICIENT] == 1
    return {
        "paths": len(walked),
        "good_pulls": counts[:, GOOD].sum(),
        "failures": counts[:, FAILURES].sum(),
        "empty": counts[:, EMPTY].sum(),
        "from_queue": counts[:, FROM_QUEUE].sum(),
        "sufficient": sufficient.sum(),
        "sufficient_not_good": (sufficient & (counts[:, GOOD] < horizon)).sum(),
    }


def _marginals(settings: Settings, name: str, queues: bool) -> list[dict[str, Any]]:
    """Add up samples less their means over the first pulls of many short paths.

    A sample from a queue was drawn long ago on a long path, when it had little to do with the
    choices made now; what is wrong with it shows early.
    """
    world = world_of(SMALL, settings.short, 1.0)
    deviation, variance = np.zeros((2, 2)), np.zeros((2, 2))
    for path in walks(world, settings.short_paths, settings.seed, 1 << 30, queues):
        deviation += path.deviation
        variance += path.variance
    return [
        {
            "kind": "marginal",
            "coupling": name,
            "environment": shown,
            "arm": arm + 1,
            "paths": settings.short_paths,
            "pulls": settings.short,
            "deviation": deviation[environment, arm],
            "variance": variance[environment, arm],
        }
        for environment, shown in ENVIRONMENTS.items()
        for arm in (0, 1)
    ]


def _curves(settings: Settings, name: str, queues: bool) -> list[dict[str, Any]]:
    world = world_of(SHOWN, settings.horizon, settings.frozen_scale)
    times = np.unique(np.geomspace(1, settings.horizon, 80).astype(np.int64))
    return [
        {
            "kind": "curve",
            "coupling": name,
            "path": number,
            "s": s,
            "lead": path.history[BIASED, s] - path.history[FROZEN, s],
        }
        for number, path in enumerate(
            walks(world, settings.shown_paths, settings.seed, (1 << 30) + 1, queues)
        )
        for s in times
    ]


def claims(data: Data) -> list[Claim]:
    """Judge the lemmas, and each coupling's samples."""
    kind, coupling = column(data, "kind"), column(data, "coupling")
    found = []
    for name, shown in ((PRINTED, "the printed coupling"), (COMMON, "common random numbers")):
        worlds = (kind == "world") & (coupling == name)

        def total(what: str, rows: Any = worlds) -> int:
            return int(column(data, what)[rows].sum())

        found.append(
            always(
                f"With {shown}, UCB pulls arm 2 at least as often in the biased environment as in "
                f"the frozen one while the good event holds, in {int(worlds.sum())} worlds",
                "lem:stochasticDominance",
                total("failures"),
                total("good_pulls"),
                "pulls",
            )
        )
        if name == PRINTED:
            found.append(
                always(
                    "A sample is never wanted from an empty queue while the good event holds "
                    f"(queues were used {total('from_queue'):,} times)",
                    "alg:coupling",
                    total("empty"),
                    total("paths"),
                    "paths",
                )
            )
        found += [
            always(
                f"With {shown}, the sufficient event implies the good event up to n",
                "lem:sufficientGoodEvent",
                total("sufficient_not_good"),
                total("sufficient"),
                "paths with the sufficient event",
            ),
            _right_means(data, name, shown),
        ]
    return found


def _right_means(data: Data, name: str, shown: str) -> Claim:
    """Claim that the samples have the means they should, by a normal bound."""
    from scipy.special import ndtri

    rows = (column(data, "kind") == "marginal") & (column(data, "coupling") == name)
    scores = (column(data, "deviation") / np.sqrt(column(data, "variance")))[rows]
    worst = int(np.argmax(np.abs(scores)))
    bound = float(ndtri(1.0 - (1.0 - LEVEL) / len(scores)))
    mean = (column(data, "deviation") / column(data, "paths"))[rows][worst]
    return Claim(
        f"With {shown}, every sample has the mean it should have in its own environment",
        "alg:coupling" if name == PRINTED else "lem:stochasticDominance",
        f"samples less their means over the first {int(column(data, 'pulls')[rows][0])} pulls, for "
        f"both arms of both environments: at most {bound:.2f} standard deviations from 0",
        f"the largest is {scores[worst]:+.1f} standard deviations, {mean:+.4f} a path "
        f"({column(data, 'environment')[rows][worst]} environment, "
        f"arm {int(column(data, 'arm')[rows][worst])})",
        bool(abs(scores[worst]) <= bound),
        "the printed coupling" if name == PRINTED else "",
    )


def draw(data: Data) -> Any:
    """Draw how far the biased environment leads, and how far samples are from their means."""
    figure, (left, right) = new_panels(1, 2, 8.6, 3.8, width_ratios=(1.1, 1.0))
    kind, coupling = column(data, "kind"), column(data, "coupling")
    for i, name in enumerate(COUPLINGS):
        mine = (kind == "curve") & (coupling == name)
        for path in np.unique(column(data, "path")[mine]):
            rows = mine & (column(data, "path") == path)
            left.plot(
                column(data, "s")[rows],
                column(data, "lead")[rows],
                color=line_style(i)["color"],
                linestyle=("-", "--")[i],
                linewidth=1.0,
                label=name if path == 0 else None,
            )
        rows = (kind == "marginal") & (coupling == name)
        paths = column(data, "paths")[rows]
        right.errorbar(
            np.arange(rows.sum()) + 0.2 * (i - 0.5),
            column(data, "deviation")[rows] / paths,
            1.96 * np.sqrt(column(data, "variance")[rows]) / paths,
            color=line_style(i)["color"],
            marker=("o", "s")[i],
            markersize=4.5,
            linestyle="none",
            capsize=3,
            label=name,
        )
    left.set_xscale("log")
    left.axhline(0.0, color="black", linewidth=0.8)
    left.set_xlabel("pulls s")
    left.set_ylabel("$T_2(s)$ biased less $T_2(s)$ frozen")
    left.legend(frameon=False, loc="upper left")
    right.axhline(0.0, color="black", linewidth=0.8)
    right.set_xticks(
        range(4), [f"{name}\narm {arm}" for name in ENVIRONMENTS.values() for arm in (1, 2)]
    )
    right.set_ylabel("sum of samples less their means")
    right.legend(frameon=False, loc="lower left")
    return figure


ITEM = Item(
    identity="coupling",
    title="Coupled to a frozen environment, UCB favours the worse arm at every pull",
    labels=("alg:coupling", "lem:stochasticDominance", "lem:sufficientGoodEvent"),
    notes=(
        "The paper's constants to n = 20,000 and random ones (means, T0 and frozen T0 that satisfy "
        "the algorithm's requirements) to n = 3,000; f(x) = x; ties go to arm 1. The printed "
        "coupling is run line by line. Its dominance holds on every path, but its samples do not "
        "have the laws they should: whether a queue is used depends on the very samples in it, so "
        "given the frozen environment's own past a sample from the queue has too low a mean. The "
        "lemma needs some coupling only, and is saved by another one: the k-th pulls of an arm in "
        "both environments share one uniform number, which makes every sample fresh in its own "
        "environment and leaves the proof of dominance as it is. The samples' means are judged on "
        "the first 12 pulls with T0 = (1, 10) and frozen T0 8, chosen because queues are short "
        "there and the error shows: a path's sum of errors does not grow with its length, so over "
        "thousands of pulls, and with the paper's own constants, it drowns in noise. The picture "
        "has T0 = (5, 1000), frozen T0 300; bars are 95% intervals."
    ),
    settings={
        "quick": Settings(60, 20, 10_000),
        "full": Settings(600, 20, 100_000),
        "as-published": Settings(60, 20, 10_000),
    },
    run=run,
    claims=claims,
    draw=draw,
)
