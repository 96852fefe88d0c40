"""Lifting one arm after the other above a share costs exponentially many pulls, for any policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.paper.evidence import always
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.paper.share_adversary import ADVERSARIES, lift
from affinity_bandits.plots.style import line_style, new_figure
from affinity_bandits.streams import generator, stream_key

STARTS = ("even", "poised", "random")
"""Before n_0: every arm in turn; as many arms as can be, in turn, so that they stand at beta / K;
any arm."""

NUMBERS = (
    "arms",
    "beta",
    "beta_prime",
    "prefix",
    "largest_initial",
    "adversary",
    "horizon",
    "small_failures",
    "small_arms",
    "j",
    "pulls",
    "bound",
    "recursion_bound",
)
SHOWN = {
    "arms": 32,
    "beta": 2.0,
    "beta_prime": 4.0,
    "prefix": 10,
    "largest_initial": 1,
    "start": "random",
}


class Case(NamedTuple):
    """One path: the instance, what is pulled before n_0 and who pulls after it."""

    key: tuple[
        int, float, float, int, int, str, int
    ]  # arms, beta, beta', n_0 over K, largest T0, start, adversary
    initial: IntArray
    prefix: IntArray  # the arms pulled up to n_0
    horizon: int


@dataclass(frozen=True)
class Settings:
    """Which paths; `growth` other than 1 multiplies the exponent of the bound: a wrong lemma."""

    arms: Sequence[int]
    prefixes: Sequence[int]
    betas: Sequence[tuple[float, float]] = ((1.25, 1.5), (1.25, 4.0), (2.0, 4.0), (2.0, 6.0))
    largest_initial: Sequence[int] = (1, 20)
    stretch: int = 100
    growth: float = 1.0
    seed: int = 0


def cases(settings: Settings) -> Iterator[Case]:
    """Yield every path of the settings."""
    key = stream_key(settings.seed, "noise")
    grid = product(
        settings.arms,
        settings.betas,
        settings.prefixes,
        settings.largest_initial,
        STARTS,
        ADVERSARIES,
    )
    for number, (arms, (beta, target), times, largest, start, kind) in enumerate(grid):
        rng = generator(key, 2 * number)
        initial = rng.integers(1, largest, size=arms, endpoint=True)
        prefix = np.arange(times * arms)
        if start == "random":
            prefix = rng.integers(0, arms, size=times * arms)
        else:
            prefix %= arms if start == "even" else int(np.ceil(arms / beta))
        horizon = settings.stretch * int(initial.sum() + len(prefix))
        yield Case((arms, beta, target, times, largest, start, kind), initial, prefix, horizon)


def run(settings: Settings, runner: CellRunner) -> Data:
    """Play every path and note each arm that was lifted, in order."""
    del runner  # nothing here is random but some of the adversaries
    from affinity_bandits.simulation.compiled import compiled

    play = compiled(lift, allocates=True)
    key = stream_key(settings.seed, "noise")
    parts: list[FloatArray] = []
    starts: list[str] = []
    for number, case in enumerate(cases(settings)):
        arms, beta, target, times, largest, start, kind = case.key
        members, small, order, pulls = (np.zeros(arms, dtype=np.int64) for _ in range(4))
        lifted, failures = play(
            kind,
            np.array((beta, target)),
            case.initial,
            case.prefix,
            case.horizon,
            generator(key, 2 * number + 1),
            members,
            small,
            order,
            pulls,
        )
        # Row 0 stands for the path, the others for the arms in the order in which they rose.
        j = np.arange(lifted + 1)
        rose = np.concatenate([[0], pulls[np.argsort(order)[arms - lifted :]]])
        unit = (target - beta) * (case.initial.sum() + len(case.prefix))
        fixed = (arms, beta, target, times, largest, kind, case.horizon, failures, small.sum())
        printed = unit / arms * np.exp(settings.growth * target * j / arms)
        recursion = unit / (arms - target) * (arms / (arms - target)) ** (j - 1.0)
        parts.append(
            np.column_stack([np.tile(fixed, (lifted + 1, 1)), j, rose, printed, recursion])
        )
        starts += [start] * (lifted + 1)
    return {"start": starts, **dict(zip(NUMBERS, np.concatenate(parts).T, strict=True))}


def claims(data: Data) -> list[Claim]:
    """Judge the pigeonhole bound at every pull and the growth at every arm lifted."""
    j, pulls = column(data, "j"), column(data, "pulls")
    path, arm = j == 0, j > 0
    found = [
        always(
            f"|S_t(beta)| >= (1 - 1/beta) K, whoever pulls ({int(path.sum())} paths)",
            "lem:smallBiasSetBound",
            int(column(data, "small_failures")[path].sum()),
            int(column(data, "horizon")[path].sum()),
            "pulls",
        )
    ]
    for sentence, label, name in (
        (
            "The j-th arm whose share exceeds beta'/K before n was pulled at least "
            "(beta' - beta)(t_0 + n_0)/K exp(beta' j/K) times since n_0",
            "lem:stabilityGeneral",
            "bound",
        ),
        (
            "It was pulled more than (beta' - beta)(t_0 + n_0)/(K - beta') (1 + beta'/(K - "
            "beta'))^(j-1) times, which the recursion of the proof gives",
            "lem:stabilityTechnical",
            "recursion_bound",
        ),
    ):
        ratio = pulls[arm] / column(data, name)[arm]
        claim = always(sentence, label, int((ratio < 1.0).sum()), ratio.size, "arms lifted")
        lowest = f"; smallest ratio {ratio.min():.4f}" if ratio.size else ""
        found.append(claim._replace(evidence=claim.evidence + lowest))
    return found


def draw(data: Data) -> Any:
    """Draw the pulls each lifted arm took, against its place in the order, with the bounds."""
    figure, axes = new_figure(height=4.2)
    mine = column(data, "j") > 0
    for name, value in SHOWN.items():
        mine &= column(data, name) == value
    for i, (kind, label) in enumerate(ADVERSARIES.items()):
        rows = mine & (column(data, "adversary") == kind)
        if not rows.any():
            continue
        axes.plot(
            column(data, "j")[rows],
            column(data, "pulls")[rows],
            marker="osv^D"[i],
            markersize=4,
            linewidth=0.8,
            label=label,
            **{**line_style(i), "linestyle": "-"},
        )
    for name, label, dashes in (
        ("recursion_bound", "bound of the recursion", ":"),
        ("bound", "bound of the lemma", "--"),
    ):
        j, first = np.unique(column(data, "j")[mine], return_index=True)
        axes.plot(j, column(data, name)[mine][first], color="black", linestyle=dashes, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("place j in the order of the first large bias times")
    axes.set_ylabel(r"pulls since $n_0$ to the first large bias time")
    axes.legend(frameon=False, fontsize=8.5)
    return figure


ITEM = Item(
    identity="stability",
    title="Lifting arm after arm above a share costs exponentially many pulls",
    labels=("lem:stabilityGeneral", "lem:stabilityTechnical", "lem:smallBiasSetBound"),
    notes=(
        "Counting alone, no noise. K arms from 8 to 64; T0_i = 1, or any number up to 20; n_0 a "
        "multiple of K, up to which arms are pulled in turn, or only ceil(K/beta) of them so that "
        "their shares stand as high as S_{n_0}(beta) allows, or any; n is 100 (t_0 + n_0). Then an "
        "adversary tries to lift arms above beta'/K: one after the other by number, the closest "
        "below first, the poorest first; or arms are pulled in turn, or any. The proof of "
        "lem:stabilityTechnical prints K - beta in the denominator of its intermediate bound, from "
        "which its conclusion would not follow; its induction yields K - beta', from which it "
        "does. The picture has K = 32, beta = 2, beta' = 4, n_0 = 320, T0_i = 1, and any arms "
        "pulled up to n_0; there, as in most cases, pulling in turn or at random lifts no arm."
    ),
    settings={
        "quick": Settings((8, 32), (1, 10)),
        "full": Settings((8, 16, 32, 64), (1, 10, 40)),
        "as-published": Settings((8, 16, 32, 64), (1, 10)),
    },
    run=run,
    claims=claims,
    draw=draw,
)
