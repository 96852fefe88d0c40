"""Committees that forget: what memory does to policies, and what the rest of it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise import Gaussian
from affinity_bandits.paper.evidence import (
    LEVEL,
    TWO_SIDED,
    proportion_above,
    proportion_below,
    student_interval,
)
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import draw_band, line_style, new_figures
from affinity_bandits.policies import UCB1, Elimination, HandicapElimination
from affinity_bandits.simulation.intervals import mean_interval

LABEL = "docs/studies/memory.md"
NEVER = 0
"""Stands in tables for a committee that never forgets."""
NAMES = {
    "ucb1": "UCB1",
    "elimination": "Algorithm 1",
    "handicap": "handicap, told the memory",
    "told": "handicap, told initial numbers",
}
FAILURE = 0.05
MOSTLY = 0.5


@dataclass(frozen=True)
class Settings:
    """Two groups with a head start of the worse one, and three whose memory is short."""

    replicates: int
    memories: Sequence[int] = (2, 3, 4, 5, 6, 7, 8, 16, 64, 256, 512, 1024, 4096, 16_384)
    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.3, 0.9)
    initial: Sequence[int] = (1000, 10)
    horizon: int = 50_000
    short: Sequence[int] = tuple(range(2, 19))
    short_means: Sequence[float] = (0.3, 0.6, 0.3)
    short_initial: Sequence[int] = (500, 50, 5)
    short_horizon: int = 20_000
    sigma: float = 0.3


def run(settings: Settings, runner: CellRunner) -> Data:
    """Count the choices of worse groups in every run, for each memory and policy."""
    grid: list[tuple[str, str, int, Cell]] = []
    for memory in (*settings.memories, NEVER):
        bandit = AffinityBandit(
            settings.means, settings.bias, settings.initial, memory=memory or None
        )
        policies: dict[str, AnyPolicy] = {"ucb1": UCB1(), "elimination": Elimination()}
        if memory == NEVER:
            policies["told"] = HandicapElimination(
                initial_pulls=settings.initial, bounded=True, failure=FAILURE
            )
        else:
            policies["handicap"] = HandicapElimination(bounded=True, failure=FAILURE, memory=memory)
        for name, policy in policies.items():
            grid.append(("map", name, memory, Cell(bandit, policy, settings.horizon)))
    for memory in settings.short:
        bandit = AffinityBandit(
            settings.short_means,
            settings.bias,
            settings.short_initial,
            noise=Gaussian(settings.sigma),
            memory=memory,
        )
        policy = HandicapElimination(sigma=settings.sigma, failure=FAILURE, memory=memory)
        grid.append(("short", "handicap", memory, Cell(bandit, policy, settings.short_horizon)))
    results = runner.results([cell for *_, cell in grid], settings.replicates)
    data: dict[str, list[Any]] = {
        name: [] for name in ("world", "policy", "memory", "replicate", "wasted", "lost", "horizon")
    }
    for (world, name, memory, cell), result in zip(grid, results, strict=True):
        best = cell.bandit.best_arms[0]
        wasted = cell.horizon - result.pulls[0, :, -1, best]
        lost = ~result.candidates[0, :, best].astype(bool)
        data["world"] += [world] * len(wasted)
        data["policy"] += [name] * len(wasted)
        data["memory"] += [memory] * len(wasted)
        data["replicate"] += range(len(wasted))
        data["wasted"] += wasted.tolist()
        data["lost"] += lost.tolist()
        data["horizon"] += [cell.horizon] * len(wasted)
    return data


def wasted(data: Data, world: str, policy: str, memory: int) -> FloatArray:
    """Return the choices of worse groups in each run of a cell."""
    chosen = column(data, "world") == world
    chosen &= (column(data, "policy") == policy) & (column(data, "memory") == memory)
    return np.asarray(column(data, "wasted")[chosen], dtype=np.float64)


def memories(data: Data, world: str, policy: str) -> list[int]:
    """Return the memories of which there are runs, in order, without the unbounded one."""
    chosen = (column(data, "world") == world) & (column(data, "policy") == policy)
    return [int(one) for one in np.unique(column(data, "memory")[chosen]) if one != NEVER]


def share_in_turn(memory: int, groups: int) -> float:
    """Return the share that a group has in its turn while so many take turns (Lemma 1)."""
    return (memory // groups) / memory


def claims(data: Data) -> list[Claim]:
    """Judge whom forgetting saves, what it costs, and that the guarantee holds."""
    horizon = int(column(data, "horizon")[column(data, "world") == "map"][0])

    def mostly_wrong(policy: str, memory: int) -> tuple[int, int]:
        runs = wasted(data, "map", policy, memory)
        return int((runs > MOSTLY * horizon).sum()), len(runs)

    def hardly_decided(memory: int) -> tuple[int, int]:
        runs = wasted(data, "map", "elimination", memory)
        return int((runs > 0.4 * horizon).sum()), len(runs)

    short, long = 16, 4096
    lost = column(data, "lost")[column(data, "policy") == "handicap"]
    return [
        proportion_below(
            f"Forgetting saves UCB1: with a memory of {short} it rarely stays with the worse group",
            LABEL,
            *mostly_wrong("ucb1", short),
            0.1,
        ),
        proportion_above(
            "Without it, UCB1 nearly always does",
            LABEL,
            *mostly_wrong("ucb1", NEVER),
            0.9,
        ),
        proportion_above(
            f"A memory of {long:,}, longer than the head start, does not save it",
            LABEL,
            *mostly_wrong("ucb1", long),
            0.9,
        ),
        proportion_above(
            "Algorithm 1 hardly decides within the horizon if the committee never forgets",
            LABEL,
            *hardly_decided(NEVER),
            0.5,
        ),
        proportion_below(
            f"It does if the committee remembers {short}", LABEL, *hardly_decided(short), 0.1
        ),
        proportion_above(
            "But not with a memory of 3, in which two groups have a third each in their turns",
            LABEL,
            *hardly_decided(3),
            0.5,
        ),
        proportion_below(
            f"The handicap that knows the memory alone loses the best group with probability at"
            f" most {FAILURE}, over all memories and worlds",
            LABEL,
            int(lost.sum()),
            len(lost),
            FAILURE,
        ),
        cheaper(data, "map", ("handicap", short), ("told", NEVER), 2.0),
        cheaper(data, "map", ("told", NEVER), ("handicap", long), 2.0),
        cheaper(data, "short", ("handicap", 6), ("handicap", 5), 1.2),
    ]


def cheaper(
    data: Data, world: str, one: tuple[str, int], other: tuple[str, int], factor: float
) -> Claim:
    """Claim that one cell needs so many times fewer choices of worse groups than another."""
    few, many = (np.log(1.0 + wasted(data, world, *cell)) for cell in (one, other))
    # A logarithm, so that a run that goes astray counts for a few others and not for thousands.
    ratio, low, _ = student_interval(many[: len(few)] - few[: len(many)], TWO_SIDED)

    def words(cell: tuple[str, int]) -> str:
        known = "that never forgets" if cell[1] == NEVER else f"of memory {cell[1]:,}"
        return f"{NAMES[cell[0]]} before a committee {known}"

    return Claim(
        f"The {words(one)} needs fewer choices of worse groups than the {words(other)}: less than"
        f" 1/{factor:g}, in the geometric mean",
        LABEL,
        f"Student's lower bound of the mean logarithm of the ratio above log {factor:g}, level"
        f" {LEVEL:.1%}",
        f"1/{np.exp(ratio):.3g}, bound 1/{np.exp(low):.3g}",
        bool(low > np.log(factor)),
    )


def draw(data: Data) -> Any:
    """Draw wasted choices over the memory, and those of short memories beside their prediction."""
    figure, (left, right) = new_figures(2, 2, 9.6, 4.0)
    horizon = int(column(data, "horizon")[column(data, "world") == "map"][0])
    ends = memories(data, "map", "ucb1")
    never = 4 * ends[-1]
    for index, name in enumerate(("ucb1", "elimination", "handicap")):
        style = line_style(index)
        places = memories(data, "map", name)
        bands = np.array(
            [mean_interval(wasted(data, "map", name, m) / horizon, 0.0, 1.0) for m in places]
        )
        draw_band(left, places, bands[:, 1], bands[:, 2], style["color"])
        left.plot(places, bands[:, 0], marker="o", markersize=3, label=NAMES[name], **style)
        last = "told" if name == "handicap" else name
        mean, low, high = mean_interval(wasted(data, "map", last, NEVER) / horizon, 0.0, 1.0)
        left.errorbar(
            [never],
            [mean],
            [[mean - low], [high - mean]],
            color=style["color"],
            marker="s",
            markersize=4.5,
            markerfacecolor="white",
            capsize=2,
        )
    left.set_xscale("log", base=2)
    left.set_ylim(-0.02, 1.02)
    ticks = [m for m in (2, 16, 256, 4096) if ends[0] <= m <= ends[-1]]
    left.set_xticks([*ticks, never], [*(f"{m:,}" for m in ticks), "never\nforgets"])
    left.xaxis.set_minor_formatter("")
    left.set_xlabel("memory, two groups")
    left.set_ylabel("part of choices of the worse group")
    left.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.88), fontsize=8.5)

    places = [m for m in memories(data, "short", "handicap") if share_in_turn(m, 3) > 0.0]
    logs = [student_interval(np.log(wasted(data, "short", "handicap", m)), 0.95) for m in places]
    bands = np.exp(np.array(logs))
    colour = line_style(2)["color"]
    right.errorbar(
        places,
        bands[:, 0],
        np.abs(bands[:, 1:].T - bands[:, 0]),
        color=colour,
        marker="o",
        markersize=3.5,
        linewidth=1.2,
        capsize=2,
        label="measured",
    )
    fair = bands[[m % 3 == 0 for m in places], 0].mean()
    shares = np.array([share_in_turn(m, 3) for m in places])
    right.plot(
        places,
        fair / (3.0 * shares) ** 2,
        color="black",
        linestyle=":",
        label="as the share in a turn has it",
    )
    right.set_ylim(0.0, None)
    right.set_xticks([m for m in places if m % 3 == 0])
    right.set_xlabel("memory, three groups")
    right.set_ylabel("choices of worse groups")
    right.legend(frameon=False, loc="upper right")
    return figure


ITEM = Item(
    identity="memory",
    title="Committees that forget: what memory does to UCB1, Algorithm 1 and the handicap",
    labels=(LABEL,),
    notes=(
        "Left: two groups with true means .3 and .9, 0/1 scores, f(x) = x, initial members 1,000 "
        "and 10, 50,000 choices. The handicap is told the memory and nothing of the initial "
        "members; where the committee never forgets (squares) it is told their numbers. Right: "
        "three groups with means .3, .6 and .3, f(x) = x, Gaussian scores with sigma .3, initial "
        "members 500, 50 and 5; the dotted line is the inverse square of the share that a group "
        "has in its turn, floor(M/3)/M, through the mean at multiples of three. With a memory "
        "below the number of groups that share is 0, and nothing is ever seen. Bands and bars are "
        "95% intervals."
    ),
    settings={"quick": Settings(60), "full": Settings(400)},
    run=run,
    claims=claims,
    draw=draw,
)
