"""Committees that forget are taken over again and again: paths of UCB1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, InGroupBonus
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels import FloatArray
from affinity_bandits.paper.evidence import mean_above, proportion_above, proportion_below
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import line_style, new_figures
from affinity_bandits.policies import UCB1
from affinity_bandits.simulation.intervals import proportion_interval
from affinity_bandits.studies.memory import LABEL, NEVER

FULL, EMPTY = 0.9, 0.1
"""Parts of a block of choices above and below which a group has, or has lost, the committee."""
APART = 1.25
"""How far above another a path is drawn."""


@dataclass(frozen=True)
class Settings:
    """Two groups that are nearly equal, and a bonus that is worth more than their difference."""

    replicates: int
    memories: Sequence[int] = (2, 4, 8, 32, 128, 512, 2048)
    bias: Bias = field(default_factory=lambda: InGroupBonus(1.0))
    means: Sequence[float] = (0.5, 0.55)
    initial: Sequence[int] = (10, 10)
    block: int = 50
    horizon: int = 20_000


def run(settings: Settings, runner: CellRunner) -> Data:
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
    for run, path in enumerate(parts):
        held = np.where(path > FULL, 1, np.where(path < EMPTY, -1, 0))
        held = held[held != 0]
        counts[run] = np.count_nonzero(held[1:] != held[:-1])
    return counts


def stays_wrong(parts: FloatArray) -> Any:
    """Return whether a run gave the better group hardly any of its second half."""
    return parts[:, parts.shape[1] // 2 :].mean(axis=1) < EMPTY


def claims(data: Data) -> list[Claim]:
    """Judge that short memories are taken over more often, and that it saves UCB1."""
    shortest = int(min(m for m in np.unique(column(data, "memory")) if m != NEVER))
    short, never = parts_of(data, shortest), parts_of(data, NEVER)
    most = float(short.shape[1])
    times, wrong = {}, {}
    for name, parts in (("short", short), ("never", never)):
        times[name] = takeovers(parts)
        wrong[name] = stays_wrong(parts)
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


def draw(data: Data) -> Any:
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
        axes.set_xscale("log")
        axes.set_xlim(times[0], times[-1])
        axes.set_xlabel("choices")
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
    third.set_ylim(-0.02, 1.02)
    third.set_ylabel("part of runs")
    third.set_xscale("log", base=2)
    ticks = [m for m in (2, 8, 32, 128, 512) if m in memories]
    third.set_xticks([*ticks, never], [*map(str, ticks), "never\nforgets"])
    third.xaxis.set_minor_formatter("")
    third.set_xlabel("memory")
    third.legend(frameon=False, loc="upper right")
    return figure


def shown_paths(parts: FloatArray) -> FloatArray:
    """Return the runs that gave the better group least, a middling part and most in the end."""
    order = np.argsort(parts[:, parts.shape[1] // 2 :].mean(axis=1), kind="stable")
    return np.asarray(parts[order[[0, len(order) // 2, -1]]])


ITEM = Item(
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
    settings={"quick": Settings(300), "full": Settings(2000)},
    run=run,
    claims=claims,
    draw=draw,
)
