"""The worlds of the explorable in the library: its scores, and its ways to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from affinity_bandits import AffinityBandit, InGroupBonus, Judges
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.noise.base import Noise
from affinity_bandits.policies import (
    UCB1,
    ExploreThenCommit,
    HeadStartElimination,
    PanelElimination,
    RecusalElimination,
    RoundPolicy,
    StepPolicy,
)
from affinity_bandits.simulation import RunLog, simulate_log


def around(parameters: FloatArray, mean: float, u: float) -> float:
    return mean + (2.0 * u - 1.0) * parameters[0] * min(mean, 1.0 - mean)


@dataclass(frozen=True)
class Around(Noise):
    """Values drawn evenly around the mean, up to a part of the way to the nearer end."""

    name: ClassVar[str] = "around"
    part: float = 0.5
    kernel = property(lambda self: around)


class World(NamedTuple):
    values: Sequence[float]
    members: Sequence[int]
    bonus: float
    choices: int
    seed: int


WAYS = ("ordinary", "turns", "panels", "outsiders", "head", "none")


def way(name: str, world: World) -> tuple[StepPolicy | RoundPolicy, Judges]:
    """Return the policy and the judges of a way of the explorable."""
    bets = {"bounded": True, "failure": 0.05}
    everybody = Judges()
    if name in ("ordinary", "none"):
        return UCB1(exploration=0.5), everybody
    if name == "turns":
        each = max(1, world.choices // (2 * len(world.values)))
        return ExploreThenCommit(pulls_per_arm=each), everybody
    if name == "panels":
        return PanelElimination(**bets), Judges("panel", seats=12)  # type: ignore[arg-type]
    if name == "outsiders":
        return RecusalElimination(**bets), Judges("recused")  # type: ignore[arg-type]
    return HeadStartElimination(initial_pulls=list(world.members), **bets), everybody  # type: ignore[arg-type]


def library_log(name: str, world: World, *, unchosen: bool = False, replicate: int = 0) -> RunLog:
    """Run a way of the explorable with the library."""
    policy, judges = way(name, world)
    bandit = AffinityBandit(
        world.values,
        InGroupBonus(0.0 if name == "none" else world.bonus),
        world.members,
        noise=Around(),
        mechanism="scaled",
        judges=judges,
    )
    return simulate_log(
        bandit, policy, world.choices, world.seed, replicate=replicate, unchosen=unchosen
    )
