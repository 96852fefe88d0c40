"""Committees that forget: the effect of memory on policies, its cost, and takeovers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, Constant, InGroupBonus, Power
from affinity_bandits.model.noise import Gaussian
from affinity_bandits.paper.item import (
    LEVEL,
    TWO_SIDED,
    CellRunner,
    Claim,
    Data,
    Item,
    PlantedWorld,
    column,
    mean_above,
    per_run,
    proportion_above,
    proportion_below,
    student_interval,
)
from affinity_bandits.plots.style import draw_band, line_style, new_figures
from affinity_bandits.policies import UCB1, Elimination, HeadStartElimination, MemoryElimination
from affinity_bandits.simulation.intervals import mean_interval, proportion_interval

LABEL = "docs/study/studies/memory.md"
NEVER = 0
"""Stands in tables for a committee that never forgets."""
NAMES = {
    "ucb1": "UCB1",
    "elimination": "Algorithm 1",
    "head start": "head start, told the memory",
    "told": "head start, told initial numbers",
}
FAILURE = 0.05
WASTEFUL = {"ucb1": 0.5, "elimination": 0.4}
"""Parts of the horizon; an undecided Algorithm 1 wastes half of it."""


@dataclass(frozen=True)
class Settings:
    """Two groups where the worse one leads at the start, and three whose memory is short."""

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
            policies["told"] = HeadStartElimination(
                initial_pulls=settings.initial, bounded=True, failure=FAILURE
            )
        else:
            policies["head start"] = MemoryElimination(bounded=True, failure=FAILURE, memory=memory)
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
        policy = MemoryElimination(sigma=settings.sigma, failure=FAILURE, memory=memory)
        grid.append(("short", "head start", memory, Cell(bandit, policy, settings.short_horizon)))
    results = runner.results([cell for *_, cell in grid], settings.replicates)
    worlds, policies_run, memories_run, cells = zip(*grid, strict=True)
    points = {
        "world": worlds,
        "policy": policies_run,
        "memory": memories_run,
        "horizon": [cell.horizon for cell in cells],
    }
    pairs = [
        (result, cell.bandit.best_arms[0]) for result, cell in zip(results, cells, strict=True)
    ]
    chosen = np.concatenate([result.pulls[0, :, -1, best] for result, best in pairs])
    kept = np.concatenate([result.candidates[0, :, best] for result, best in pairs])
    data = per_run(points, settings.replicates)
    return {**data, "wasted": data["horizon"] - chosen, "lost": ~kept.astype(bool)}


def read_wasted(data: Data, world: str, policy: str, memory: int) -> FloatArray:
    """Return the choices of worse groups in each run of a cell."""
    chosen = column(data, "world") == world
    chosen &= (column(data, "policy") == policy) & (column(data, "memory") == memory)
    return np.asarray(column(data, "wasted")[chosen], dtype=np.float64)


def memories(data: Data, world: str, policy: str) -> list[int]:
    """Return the bounded memories of which there are runs, in order."""
    chosen = (column(data, "world") == world) & (column(data, "policy") == policy)
    return [int(one) for one in np.unique(column(data, "memory")[chosen]) if one != NEVER]


def share_in_turn(memory: int, groups: int) -> float:
    """Return the share that a group has in its turn while so many take turns (Lemma 1)."""
    return (memory // groups) / memory


def claims(data: Data) -> list[Claim]:
    """Judge whom forgetting saves, its cost, and that the guarantee holds."""
    horizon = int(column(data, "horizon")[column(data, "world") == "map"][0])

    def wasteful(policy: str, memory: int) -> tuple[int, int]:
        """Count the runs with most choices wasted; Algorithm 1 then has hardly decided."""
        runs = read_wasted(data, "map", policy, memory)
        return int((runs > WASTEFUL[policy] * horizon).sum()), len(runs)

    short, long = 16, 4096
    lost = column(data, "lost")[column(data, "policy") == "head start"]
    return [
        proportion_below(
            f"Forgetting saves UCB1: with a memory of {short} it rarely stays with the worse group",
            LABEL,
            *wasteful("ucb1", short),
            0.1,
        ),
        proportion_above(
            "Without it, UCB1 nearly always does",
            LABEL,
            *wasteful("ucb1", NEVER),
            0.9,
        ),
        proportion_above(
            f"A memory of {long:,}, longer than the initial lead, does not save it",
            LABEL,
            *wasteful("ucb1", long),
            0.9,
        ),
        proportion_above(
            "Algorithm 1 hardly decides within the horizon if the committee never forgets",
            LABEL,
            *wasteful("elimination", NEVER),
            0.5,
        ),
        proportion_below(
            f"It does if the committee remembers {short}",
            LABEL,
            *wasteful("elimination", short),
            0.1,
        ),
        proportion_above(
            "But not with a memory of 3, in which two groups have a third each in their turns",
            LABEL,
            *wasteful("elimination", 3),
            0.5,
        ),
        proportion_below(
            f"The head start that knows the memory alone loses the best group with probability at"
            f" most {FAILURE}, over all memories and worlds",
            LABEL,
            int(lost.sum()),
            len(lost),
            FAILURE,
        ),
        cheaper(data, "map", ("head start", short), ("told", NEVER), 2.0),
        cheaper(data, "map", ("told", NEVER), ("head start", long), 2.0),
        cheaper(data, "short", ("head start", 6), ("head start", 5), 1.2),
    ]


def cheaper(
    data: Data, world: str, one: tuple[str, int], other: tuple[str, int], factor: float
) -> Claim:
    """Claim that one cell needs so many times fewer choices of worse groups than another."""
    few, many = (np.log(1.0 + read_wasted(data, world, *cell)) for cell in (one, other))
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
    for index, name in enumerate(("ucb1", "elimination", "head start")):
        style = line_style(index)
        places = memories(data, "map", name)
        bands = np.array(
            [mean_interval(read_wasted(data, "map", name, m) / horizon, 0.0, 1.0) for m in places]
        )
        draw_band(left, places, bands[:, 1], bands[:, 2], style["color"])
        left.plot(places, bands[:, 0], marker="o", markersize=3, label=NAMES[name], **style)
        last = "told" if name == "head start" else name
        mean, low, high = mean_interval(read_wasted(data, "map", last, NEVER) / horizon, 0.0, 1.0)
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
    ticks = [m for m in (2, 16, 256, 4096) if ends[0] <= m <= ends[-1]]
    left.set_xticks([*ticks, never], [*(f"{m:,}" for m in ticks), "never\nforgets"])
    left.xaxis.set_minor_formatter("")
    label = "part of choices of the worse group"
    left.set(ylim=(-0.02, 1.02), xlabel="memory, two groups", ylabel=label)
    left.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.88), fontsize=8.5)

    places = [m for m in memories(data, "short", "head start") if share_in_turn(m, 3) > 0.0]
    logs = [
        student_interval(np.log(read_wasted(data, "short", "head start", m)), 0.95) for m in places
    ]
    bands = np.exp(np.array(logs))
    color = line_style(2)["color"]
    right.errorbar(
        places,
        bands[:, 0],
        np.abs(bands[:, 1:].T - bands[:, 0]),
        color=color,
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
    right.set(ylim=(0.0, None), xticks=[m for m in places if m % 3 == 0])
    right.set(xlabel="memory, three groups", ylabel="choices of worse groups")
    right.legend(frameon=False, loc="upper right")
    return figure


CHEAP: dict[str, Any] = {"memories": (2, 3, 16, 4096), "short": (5, 6)}
"""Settings of planted worlds, of which the verdicts alone are looked at."""

MEMORY = Item(
    identity="memory",
    title="Committees that forget: what memory does to UCB1, Algorithm 1 and the head start",
    labels=(LABEL,),
    notes=(
        "Left: two groups with true means .3 and .9, 0/1 scores, f(x) = x, initial members 1,000 "
        "and 10, 50,000 choices. The head start is told the memory and nothing of the initial "
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
    planted={
        "no bias": PlantedWorld({**CHEAP, "bias": Constant(0.5)}, "TFFF-F---F"),
        "no lead to forget": PlantedWorld({**CHEAP, "initial": (1, 1)}, "-FFF---F--"),
    },
)


FULL, EMPTY = 0.9, 0.1
"""Parts of a block of choices above and below which a group has, or has lost, the committee."""
APART = 1.25
"""How far above another a path is drawn."""


@dataclass(frozen=True)
class PathSettings:
    """Two groups that are nearly equal, and a bonus that is worth more than their difference."""

    replicates: int
    memories: Sequence[int] = (2, 4, 8, 32, 128, 512, 2048)
    bias: Bias = field(default_factory=lambda: InGroupBonus(1.0))
    means: Sequence[float] = (0.5, 0.55)
    initial: Sequence[int] = (10, 10)
    block: int = 50
    horizon: int = 20_000


def run_paths(settings: PathSettings, runner: CellRunner) -> Data:
    """Take the part of each block of choices that went to the better group."""
    grid = (*settings.memories, NEVER)
    times = tuple(range(settings.block, settings.horizon + 1, settings.block))
    cells = [
        Cell(
            AffinityBandit(settings.means, settings.bias, settings.initial, memory=memory or None),
            UCB1(),
            settings.horizon,
            times,
        )
        for memory in grid
    ]
    results = runner.results(cells, settings.replicates)
    pulls = np.stack([result.pulls[0, :, :, 1] for result in results])
    parts = np.diff(pulls, axis=2, prepend=0) / settings.block
    return {
        "memory": np.repeat(grid, settings.replicates * len(times)),
        "replicate": np.tile(np.repeat(np.arange(settings.replicates), len(times)), len(grid)),
        "time": np.tile(times, len(grid) * settings.replicates),
        "part": parts.ravel(),
    }


def parts_of(data: Data, memory: int) -> FloatArray:
    """Return the part of choices of the better group, by [run, block]."""
    chosen = column(data, "memory") == memory
    times = len(np.unique(column(data, "time")))
    return np.asarray(column(data, "part")[chosen], dtype=np.float64).reshape(-1, times)


def takeovers(parts: FloatArray) -> FloatArray:
    """Return how often the committee went from one group's hands into the other's, by run."""
    counts = np.zeros(len(parts))
    for run_paths, path in enumerate(parts):
        held = np.where(path > FULL, 1, np.where(path < EMPTY, -1, 0))
        held = held[held != 0]
        counts[run_paths] = np.count_nonzero(held[1:] != held[:-1])
    return counts


def stays_wrong(parts: FloatArray) -> Any:
    """Return whether a run gave the better group hardly any of its second half."""
    return parts[:, parts.shape[1] // 2 :].mean(axis=1) < EMPTY


def claims_paths(data: Data) -> list[Claim]:
    """Judge that short memories are taken over more often, and that it saves UCB1."""
    shortest = int(min(m for m in np.unique(column(data, "memory")) if m != NEVER))
    short, never = parts_of(data, shortest), parts_of(data, NEVER)
    most = float(short.shape[1])
    times = {"short": takeovers(short), "never": takeovers(never)}
    wrong = {"short": stays_wrong(short), "never": stays_wrong(never)}
    return [
        mean_above(
            f"A committee that remembers {shortest} is taken over again and again under UCB1: more"
            " than three times",
            LABEL,
            times["short"],
            3.0,
            (0.0, most),
        ),
        proportion_above(
            "In nearly all runs it was in the hands of either group at some time",
            LABEL,
            int((times["short"] > 0).sum()),
            len(short),
            0.8,
        ),
        proportion_below(
            "One that never forgets was so in fewer than half of them",
            LABEL,
            int((times["never"] > 0).sum()),
            len(never),
            0.5,
        ),
        proportion_below(
            f"So UCB1 rarely stays with the worse group where the memory is {shortest}",
            LABEL,
            int(wrong["short"].sum()),
            len(short),
            0.05,
        ),
        proportion_above(
            "and does where nobody is ever forgotten",
            LABEL,
            int(wrong["never"].sum()),
            len(never),
            0.05,
        ),
    ]


def draw_paths(data: Data) -> Any:
    """Draw some paths for two memories, and takeovers and wrong ends over the memory."""
    memories = [int(m) for m in np.unique(column(data, "memory")) if m != NEVER]
    times = np.unique(column(data, "time"))
    figure, (first, second, third) = new_figures(3, 3, 11.4, 3.6)
    for axes, memory in ((first, memories[0]), (second, NEVER)):
        parts = shown_paths(parts_of(data, memory))
        for place, path in enumerate(parts):
            axes.plot(times, path + APART * place, color=line_style(place)["color"], linewidth=0.9)
        bases = APART * np.arange(len(parts))
        axes.set_yticks(np.ravel([bases, bases + 1.0], order="F"), ["0", "1"] * len(parts))
        axes.set(xscale="log", xlim=(times[0], times[-1]), xlabel="choices")
        axes.set_title(
            "never forgets" if memory == NEVER else f"memory {memory}", fontsize=10, loc="left"
        )
    first.set_ylabel("part of the better group, three runs")

    never = 4 * memories[-1]
    shown = [parts_of(data, memory) for memory in (*memories, NEVER)]
    lines = {
        "taken over at some time": [int((takeovers(parts) > 0).sum()) for parts in shown],
        "stays with the worse group": [int(stays_wrong(parts).sum()) for parts in shown],
    }
    for index, (name, hits) in enumerate(lines.items()):
        style = line_style(index)
        bands = np.array([proportion_interval(hit, len(shown[0]), 0.95) for hit in hits])
        error = np.abs(bands[:, 1:].T - bands[:, 0])
        for part in (slice(0, -1), slice(-1, None)):
            third.errorbar(
                [*memories, never][part],
                bands[part, 0],
                error[:, part],
                marker="o" if part.start == 0 else "s",
                markersize=4,
                markerfacecolor=None if part.start == 0 else "white",
                linewidth=1.4,
                capsize=2,
                label=name if part.start == 0 else None,
                **style,
            )
    third.set_xscale("log", base=2)
    ticks = [m for m in (2, 8, 32, 128, 512) if m in memories]
    third.set_xticks([*ticks, never], [*map(str, ticks), "never\nforgets"])
    third.xaxis.set_minor_formatter("")
    third.set(ylim=(-0.02, 1.02), xlabel="memory", ylabel="part of runs")
    third.legend(frameon=False, loc="upper right")
    return figure


def shown_paths(parts: FloatArray) -> FloatArray:
    """Return the runs that gave the better group least, a middling part and most in the end."""
    order = np.argsort(parts[:, parts.shape[1] // 2 :].mean(axis=1), kind="stable")
    return np.asarray(parts[order[[0, len(order) // 2, -1]]])


MEMORY_PATHS = Item(
    identity="memory-paths",
    title="A committee that forgets is taken over again and again, which saves UCB1",
    labels=(LABEL,),
    notes=(
        "Two groups with true means .5 and .55, 0/1 scores, a bonus of 1 (f rises from 1/2 to 1), "
        "ten initial members each, 20,000 choices by UCB1. A path is the part of the better group "
        "in blocks of 50 choices. A group holds the committee in a block of which it has more than "
        "nine tenths; a takeover is a change of who held it last. Drawn are, from below, the runs "
        "that gave the better group least of their second half, a middling part and most. Bars "
        "are 95% intervals."
    ),
    settings={"quick": PathSettings(300), "full": PathSettings(2000)},
    run=run_paths,
    claims=claims_paths,
    draw=draw_paths,
    planted={
        "a long memory": PlantedWorld(
            {"memories": (512,), "horizon": 10_000, "replicates": 100}, "FF---"
        ),
        # Under f(x) = x a group without members scores nothing, so there is no way back.
        "f(x) = x": PlantedWorld(
            {"memories": (2,), "horizon": 10_000, "bias": Power(1.0), "replicates": 100}, "FF-F-"
        ),
    },
)
