"""Random instances and the bridge from the package's descriptions to the naive twins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Clipped,
    Constant,
    Gaussian,
    InGroupBonus,
    Joining,
    Judges,
    PiecewisePower,
    Plateau,
    Power,
    Sigmoid,
    StepRun,
    simulate,
)
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.model.bias import Bias
from affinity_bandits.policies import POLICIES, Elimination, PublishedSchedule, RoundPolicy

from .naive.biases import naive_bias
from .naive.environment import NaiveEnvironment, policy_rng
from .naive.policies import NAIVE


class DecidedByRounding(Exception):  # noqa: N818 - reads as the fact it states
    """A choice of the twin was between numbers that differ by less than its arithmetic."""


@st.composite
def piecewise_powers(draw: st.DrawFn, *, largest: float = 1.0, steepest: float = 3.0) -> Bias:
    """Up to six points at shares from 1e-4 on; the last of them may be 1."""
    shares = sorted(draw(st.sets(st.floats(1e-4, 1.0), min_size=1, max_size=6)))
    weights = [draw(st.floats(0.05, 1.0))]
    for left, right in pairwise(shares):
        exponent = draw(st.just(0.0) | st.floats(0.0, steepest))
        weights.append(weights[-1] * (right / left) ** exponent)
    return PiecewisePower(shares, [largest * weight / max(weights) for weight in weights])


def biases(arms: int) -> st.SearchStrategy[Bias]:
    smooth: st.SearchStrategy[Bias] = st.one_of(
        st.floats(0.1, 1.0).map(Constant),
        st.sampled_from([1.0, 2.0, 3.0]).map(Power),
        st.floats(1.0, 4.5).map(Power),
        st.just(Sigmoid()),
        st.floats(0.0, 3.0).map(InGroupBonus),
        st.floats(0.5, float(arms)).map(lambda beta: Plateau(arms, beta)),
        piecewise_powers(),
    )
    clipped = st.builds(
        lambda base, low, width: Clipped(base, low=low, high=low + width),
        smooth,
        st.floats(0.0, 0.5),
        st.floats(0.0, 0.5),
    )
    return st.one_of(smooth, clipped, smooth.map(lambda base: Clipped(base, low=0.2)))


JOINING = st.builds(
    Joining,
    part=st.sampled_from([1.0, 0.5, 0.1]),
    above=st.sampled_from([None, 0.5]),
    when=st.sampled_from(["at once", "next round"]),
    leaving=st.sampled_from([0.0, 0.05]),
)


def judges(arms: int) -> st.SearchStrategy[Judges]:
    panels = st.builds(
        Judges,
        who=st.just("panel"),
        seats=st.integers(arms, 4 * arms),
        seating=st.sampled_from(["as wanted", "in proportion"]),
    )
    return st.sampled_from([Judges(), Judges("recused")]) | panels


@st.composite
def bandits(
    draw: st.DrawFn,
    *,
    most_arms: int = 12,
    memory: bool = True,
    gaussian: bool = True,
    seated: bool = False,
) -> AffinityBandit:
    arms = draw(st.integers(2, most_arms))
    seated = seated and draw(st.booleans())
    noise = draw(st.sampled_from([Bernoulli(), Gaussian(0.5)] if gaussian else [Bernoulli()]))
    return AffinityBandit(
        true_means=draw(st.lists(st.floats(0.0, 1.0), min_size=arms, max_size=arms)),
        bias=draw(biases(arms)),
        initial_pulls=draw(st.lists(st.integers(1, 60), min_size=arms, max_size=arms)),
        noise=noise,
        mechanism=draw(st.sampled_from(["scaled", "shifted", "gated"])),
        memory=draw(st.none() | st.integers(1, 80)) if memory and not seated else None,
        joining=draw(JOINING) if seated else 1.0,
        judges=draw(judges(arms)) if seated else "committee",
    )


TOLD_JUDGES = ("members-elimination", "panel-elimination")
"""Policies that are told who judges, which a bandit with bounded memory does not do."""


def policy_examples(name: str, bandit: AffinityBandit) -> list[AnyPolicy]:
    """The policy's own examples; those that are told something are told this bandit's."""
    examples: list[Any] = list(POLICIES[name].examples())
    if name in ("debiased-ucb-v", "oracle", "weighted-ucb"):
        examples = [policy_from_json(name, bandit)]
    if name == "elimination":
        examples.append(Elimination(PublishedSchedule(-5.5)))
    return examples


def naive_twin(policy: AnyPolicy, arms: int, horizon: int) -> Any:
    settings = policy.to_json()
    name = settings.pop("name")
    if "schedule" in settings:
        settings |= {key: value for key, value in settings.pop("schedule").items() if key != "name"}
    if "bias" in settings:
        settings["bias"] = naive_bias(settings["bias"])
    return NAIVE[name](arms, horizon, **settings)


class NaiveRow(NamedTuple):
    """A decision as the twins have it."""

    arm: int
    score: float
    share: float
    joined: bool
    round: int
    panel: list[int] | None
    everybody: list[float]


def naive_run(
    bandit: AffinityBandit, policy: AnyPolicy, horizon: int, seed: int, replicate: int
) -> tuple[list[int], set[int]]:
    """The arms that the twin pulls in the twin of the environment, and its candidates."""
    rows, candidates = naive_log(bandit, policy, horizon, seed, replicate)
    return [row.arm for row in rows], candidates


def naive_log(
    bandit: AffinityBandit,
    policy: AnyPolicy,
    horizon: int,
    seed: int,
    replicate: int,
    unchosen: bool = False,
) -> tuple[list[NaiveRow], set[int]]:
    """What the twin decides in the twin of the environment, and its candidates.

    A sampler of the user's own is handed to the twin as it is.
    """
    description = bandit.to_json()
    environment = NaiveEnvironment(
        means=description["true_means"],
        bias=naive_bias(description["bias"]),
        initial_pulls=description["initial_pulls"],
        noise=description["noise"],
        mechanism=description["mechanism"],
        memory=description["memory"],
        seed=seed,
        replicate=replicate,
        sampler=getattr(bandit.noise, "sampler", None),
        joining=description.get("joining"),
        judges=description.get("judges"),
        told=isinstance(policy, RoundPolicy) and policy.told_judges,
    )
    twin = naive_twin(policy, bandit.arms, horizon)
    rng = policy_rng(seed, policy.to_json(), replicate)
    rows: list[NaiveRow] = []
    rounds, panel = 0, None
    for _ in range(horizon):
        if twin.opens():
            rounds += 1
            if environment.seated:
                panel = environment.open_round(twin.fewest_seats())
                twin.meet(panel)
        arm = twin.select(rng)
        share = environment.share(arm)
        scores = environment.everybody() if unchosen else []
        score = environment.pull(arm)
        twin.update(arm, score)
        if unchosen:
            scores[arm] = score
        seats = None if bandit.judges.who == "committee" else panel
        rows.append(NaiveRow(arm, score, share, environment.joined, rounds - 1, seats, scores))
    if twin.decided_by_rounding:
        raise DecidedByRounding
    return rows, twin.candidates()


def compiled_run(
    bandit: AffinityBandit, policy: AnyPolicy, horizon: int, seed: int, replicate: int
) -> tuple[list[int], set[int]]:
    """The arms that the compiled loop pulls, and the policy's candidates at the end."""
    run = StepRun(bandit, policy, horizon, seed, replicate)
    times = np.arange(1, horizon + 1)
    counts = np.empty((horizon, bandit.arms), dtype=np.int64)
    run.advance(horizon, times, counts)
    return _pulled(counts, run.candidates)


def uncompiled_run(
    bandit: AffinityBandit, policy: AnyPolicy, horizon: int, seed: int, replicate: int
) -> tuple[list[int], set[int]]:
    """The same of the loop in plain Python."""
    found = simulate(
        bandit,
        policy,
        horizon,
        1,
        seed,
        checkpoints=range(1, horizon + 1),
        engine="python",
        first_replicate=replicate,
        progress=False,
    )
    return _pulled(found.pulls[0, 0], found.candidates[0, 0])


def _pulled(counts: IntArray, candidates: IntArray) -> tuple[list[int], set[int]]:
    steps = np.diff(counts, axis=0, prepend=0)
    return steps.argmax(axis=1).tolist(), {int(i) for i in np.flatnonzero(candidates)}
