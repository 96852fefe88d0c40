"""Wrong input of every kind is refused by an error of this package, in one line that names it."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    AffinityError,
    Bernoulli,
    Clipped,
    Constant,
    Custom,
    Environment,
    Gaussian,
    Live,
    Plateau,
    Power,
    Result,
    Sigmoid,
    StepRun,
    policy_from_json,
    simulate,
)
from affinity_bandits.bias import bias_from_json
from affinity_bandits.errors import (
    InvalidInput,
    MissingExtra,
    NotSupported,
    StateMismatch,
    UnknownName,
)
from affinity_bandits.plots import draw_regret
from affinity_bandits.policies import (
    EXP3,
    EXP3IX,
    KLUCB,
    LUCB,
    MOSS,
    UCB1,
    UCBV,
    AsSteps,
    DebiasedUCBV,
    EfficientUCBV,
    Elimination,
    EpsilonGreedy,
    EXP3Gains,
    ExploreThenCommit,
    ListedSchedule,
    Oracle,
    PublishedSchedule,
    SequentialHalving,
    SuccessiveRejects,
    ThompsonBeta,
    ThompsonGaussian,
    Uniform,
)
from affinity_bandits.simulation import PolicyRun

HUGE = 10**400
"""Larger than any float."""
UNPRINTABLE = 10**5000
"""More digits than Python turns into text."""
TOO_LONG = 10**15 + 1
"""One pull beyond the longest horizon."""
LONGEST_MESSAGE = 600

BANDIT = AffinityBandit([0.4, 0.6])
CROWD = AffinityBandit([0.5] * 100)


def identity(share: float) -> float:
    return share


def _row(error: type[AffinityError]) -> Callable[[str, Callable[[], object], str], Any]:
    """Rows of one error: a name, how to make the mistake, what the message says, cut by " | "."""
    return lambda name, call, says: pytest.param(call, error, says.split(" | "), id=name)


invalid = _row(InvalidInput)
unknown = _row(UnknownName)
unsupported = _row(NotSupported)
mismatch = _row(StateMismatch)
missing = _row(MissingExtra)
refused = _row(AffinityError)  # where more than one of the above would be right


# Helpers that bring an object to the point at which the wrong input is given.


def simulated(policies: object = "ucb1", horizon: object = 10, **settings: Any) -> Result:
    """A run that would take no time if its one wrong setting were right."""
    bandit = settings.pop("bandit", BANDIT)
    return simulate(bandit, policies, horizon, **{"replicates": 2} | settings)


def closure() -> Callable[[float], float]:
    slope = 0.5
    return lambda share: slope * share


def live(*, asked: bool = True) -> Live:
    run = Live(UCB1(), arms=2, horizon=10)
    if asked:
        assert run.ask() == 0
    return run


def changed(text: str, **changes: object) -> str:
    return json.dumps({**json.loads(text), **changes})


def without(text: str, key: str) -> str:
    return json.dumps({name: value for name, value in json.loads(text).items() if name != key})


def state_with(text: str, **changes: object) -> str:
    return changed(text, state={**json.loads(text)["state"], **changes})


def step_run() -> StepRun:
    return StepRun(BANDIT, UCB1(), horizon=10)


def room(rows: int, columns: int) -> Any:
    """Too little room inside a larger array, where writing beyond it does no harm."""
    return np.zeros((20, columns), dtype=np.int64)[:rows]


def finished(*labels: str) -> Result:
    """A result that took no simulation."""
    return Result(
        bandit=BANDIT,
        runs=tuple(PolicyRun(label, UCB1().to_json(), False, "steps") for label in labels),
        horizon=10,
        seed=0,
        replicates=np.arange(2),
        checkpoints=np.array([10]),
        pulls=np.full((len(labels), 2, 1, 2), 5),
        candidates=np.ones((len(labels), 2, 2), dtype=np.int64),
    )


def loaded(content: bytes) -> Result:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        path.write_bytes(content)
        return Result.load(path)


def archive(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def saved_result() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        finished("ucb1").save(path)
        return path.read_bytes()


def single_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


def drawn_without_matplotlib() -> object:
    with mock.patch.dict(sys.modules, {"matplotlib": None}):
        return draw_regret(finished("ucb1"))


BIASES = [
    # Numbers: out of range, not finite, too large for a float, not numbers at all.
    invalid("power-below-1", lambda: Power(0.5), "alpha | at least 1 | 0.5"),
    invalid("power-nan", lambda: Power(math.nan), "alpha | finite | nan"),
    invalid("power-infinite", lambda: Power(math.inf), "alpha | finite | inf"),
    # In single precision the largest double is infinite, too, and so no bound.
    invalid("power-infinite-single", lambda: Power(np.float32("inf")), "alpha | finite | inf"),
    invalid("power-huge", lambda: Power(HUGE), "alpha | finite | 1000000"),
    invalid("power-unprintable", lambda: Power(UNPRINTABLE), "alpha | finite"),
    invalid("power-boolean", lambda: Power(True), "alpha | True"),
    invalid("power-text", lambda: Power("2"), "alpha | '2'"),
    invalid("power-none", lambda: Power(None), "alpha | None"),
    invalid("power-complex", lambda: Power(2j), "alpha | 2j"),
    # The representation of a matrix has line breaks; a message has none.
    invalid("power-matrix", lambda: Power(np.ones((2, 2))), "alpha | array"),
    invalid("constant-negative", lambda: Constant(-0.1), "value | at least 0 | -0.1"),
    invalid("constant-fraction-too-large", lambda: Constant(Fraction(HUGE, 3)), "value"),
    invalid("plateau-one-arm", lambda: Plateau(1), "arms | from 2 | got 1"),
    invalid("plateau-half-an-arm", lambda: Plateau(2.5), "arms | whole | 2.5"),
    invalid("plateau-beta-zero", lambda: Plateau(3, 0.0), "beta | (0, 3] | 0.0"),
    invalid("plateau-beta-beyond-arms", lambda: Plateau(3, 4.0), "beta | (0, 3] | 4"),
    # Clips.
    invalid("clipped-without-clip", lambda: Clipped(Power()), "low | high"),
    invalid("clipped-crossed", lambda: Clipped(Power(), 0.5, 0.2), "low | 0.2 | 0.5"),
    invalid("clipped-negative", lambda: Clipped(Power(), low=-1.0), "low | -1.0"),
    invalid("clipped-high-nan", lambda: Clipped(Power(), high=math.nan), "high | nan"),
    invalid("clipped-name", lambda: Clipped("power", 0.1), "base | 'power'"),
    invalid("clipped-class", lambda: Clipped(Power, 0.1), "base | bias model"),
    # Shares.
    invalid("share-beyond-1", lambda: Power().weight(1.5), "share | [0, 1] | 1.5"),
    invalid("share-nan", lambda: Sigmoid().weight(math.nan), "share | nan"),
    invalid("share-in-array", lambda: Power().weight([0.1, -1.0]), "share | -1.0"),
    invalid("share-text", lambda: Power().weight("half"), "share | 'half'"),
    invalid("share-huge", lambda: Power().weight(HUGE), "share | [0, 1]"),
]

CUSTOM_BIASES = [
    invalid("custom-number", lambda: Custom(3, 1.0), "function | got 3"),
    invalid("custom-builtin", lambda: Custom(math.sqrt, 1.0), "function | plain"),
    invalid("custom-method", lambda: Custom(Power().weight, 1.0), "function | plain"),
    invalid("custom-closure", lambda: Custom(closure(), 1.0), "function | enclosing"),
    invalid(
        "custom-that-raises",
        lambda: Custom(lambda x: 1.0 / x, 1.0),
        "function | at 0 it raised | ZeroDivisionError",
    ),
    invalid(
        "custom-that-raises-in-two-lines",
        lambda: Custom(lambda x: [][int("one\ntwo")], 1.0),
        "function | ValueError",
    ),
    invalid("custom-of-two-arguments", lambda: Custom(lambda x, y: x, 1.0), "function | argument"),
    invalid("custom-nan", lambda: Custom(lambda x: math.nan, 1.0), "function | nan"),
    invalid("custom-unbounded", lambda: Custom(lambda x: math.inf, 1.0), "function"),
    invalid(
        "custom-none", lambda: Custom(lambda x: None, 1.0), "function | returns a number | None"
    ),
    # float("1.0") is a number, but the compiled loop would not call float.
    invalid("custom-text", lambda: Custom(lambda x: "1.0", 1.0), "function"),
    invalid(
        "custom-decreasing",
        lambda: Custom(lambda x: 1.0 - x, 1.0),
        "function | nondecreasing | f(0) = 1",
    ),
    invalid("custom-negative", lambda: Custom(lambda x: x - 1.0, 1.0), "function | -1"),
    invalid(
        "custom-too-steep",
        lambda: Custom(lambda x: 3.0 * x, 2.0),
        "lipschitz_constant | at least 3 | 2.0",
    ),
    invalid("custom-lipschitz-nan", lambda: Custom(identity, math.nan), "lipschitz_constant | nan"),
    invalid("custom-label-number", lambda: Custom(identity, 1.0, 7), "label | 7"),
    unsupported(
        "custom-that-does-not-compile",
        lambda: simulated(
            bandit=AffinityBandit([0.4, 0.6], bias=Custom(lambda x: float(str(x)), 1.0))
        ),
        "cannot be compiled | bias",
    ),
]

BIASES_FROM_DATA = [
    invalid("bias-none", lambda: bias_from_json(None), "bias | 'name' | None"),
    invalid("bias-without-name", lambda: bias_from_json({"alpha": 2}), "bias | 'name'"),
    unknown(
        "bias-unknown", lambda: bias_from_json({"name": "powr"}), "bias | did you mean 'power'?"
    ),
    invalid("bias-name-number", lambda: bias_from_json({"name": 3}), "bias | 3"),
    invalid("bias-name-list", lambda: bias_from_json({"name": ["power"]}), "bias"),
    unknown(
        "bias-unknown-key",
        lambda: bias_from_json({"name": "power", "alfa": 2}),
        "parameter of bias power | did you mean 'alpha'?",
    ),
    unknown(
        "bias-key-of-a-model-without-any",
        lambda: bias_from_json({"name": "sigmoid", "alpha": 2}),
        "parameter of bias sigmoid | 'alpha'",
    ),
    invalid(
        "bias-clipped-without-base",
        lambda: bias_from_json({"name": "clipped", "low": 0.1}),
        "base | given",
    ),
    invalid(
        "bias-clipped-inner-value",
        lambda: bias_from_json({"name": "clipped", "base": {"name": "power", "alpha": 0}}),
        "alpha | got 0",
    ),
    unknown(
        "bias-custom-without-functions",
        lambda: bias_from_json(Custom(identity, 1.0, "mine").to_json()),
        "bias label | 'mine' | no functions",
    ),
    unknown(
        "bias-custom-of-another-label",
        lambda: bias_from_json(Custom(identity, 1.0, "mine").to_json(), {"mein": identity}),
        "bias label | did you mean 'mein'?",
    ),
    unknown(
        "bias-custom-unknown-key",
        lambda: bias_from_json(
            {**Custom(identity, 1.0, "mine").to_json(), "slope": 1}, {"mine": identity}
        ),
        "parameter of bias custom | 'slope'",
    ),
]

BANDITS = [
    # True means.
    invalid("means-empty", lambda: AffinityBandit([]), "true_means | 1 to 100,000"),
    invalid("means-too-many", lambda: AffinityBandit([0.5] * 100_001), "true_means | 100001"),
    invalid("means-text", lambda: AffinityBandit("0.4,0.6"), "true_means | list"),
    invalid("means-number", lambda: AffinityBandit(0.4), "true_means | list | 0.4"),
    invalid("means-array-without-axis", lambda: AffinityBandit(np.array(0.4)), "true_means | list"),
    invalid("means-matrix", lambda: AffinityBandit(np.eye(2)), "true_means | array"),
    invalid("means-beyond-1", lambda: AffinityBandit([0.4, 1.2]), "true_means[1] | 1.2"),
    invalid("means-nan", lambda: AffinityBandit([math.nan]), "true_means[0] | nan"),
    invalid("means-boolean", lambda: AffinityBandit([0.4, True]), "true_means[1]"),
    invalid(
        "means-gaussian-infinite",
        lambda: AffinityBandit([math.inf], noise=Gaussian()),
        "true_means[0] | 1e+09 | inf",
    ),
    # Bias.
    invalid("bandit-bias-name", lambda: AffinityBandit([0.4], "power"), "bias | Power"),
    invalid(
        "bandit-gated-beyond-1",
        lambda: AffinityBandit([0.4, 0.6], bias=Constant(2.0)),
        "bias | gated | 2.0",
    ),
    invalid(
        "bandit-gaussian-gated-beyond-1",
        lambda: AffinityBandit([0.4], Constant(1.5), noise="gaussian", mechanism="gated"),
        "bias | at most 1 | 1.5",
    ),
    # Initial pulls.
    invalid(
        "pulls-too-few",
        lambda: AffinityBandit([0.4, 0.6], initial_pulls=[1]),
        "initial_pulls | as long as true_means (2) | 1 entries",
    ),
    invalid(
        "pulls-zero",
        lambda: AffinityBandit([0.4, 0.6], initial_pulls=[1, 0]),
        "initial_pulls[1] | from 1 | got 0",
    ),
    invalid(
        "pulls-fraction",
        lambda: AffinityBandit([0.4], initial_pulls=[1.5]),
        "initial_pulls[0] | whole | 1.5",
    ),
    invalid(
        "pulls-infinite-half-precision",
        lambda: AffinityBandit([0.4], initial_pulls=[np.float16("inf")]),
        "initial_pulls[0] | whole | inf",
    ),
    invalid(
        "pulls-number",
        lambda: AffinityBandit([0.4], initial_pulls=3),
        "initial_pulls | list | got 3",
    ),
    invalid(
        "pulls-sum-too-large",
        lambda: AffinityBandit([0.4, 0.6], initial_pulls=[10**15, 1]),
        "initial_pulls | 1000000000000001",
    ),
    # Noise and mechanism.
    unknown(
        "noise-unknown",
        lambda: AffinityBandit([0.4], noise="gausian"),
        "noise | did you mean 'gaussian'?",
    ),
    invalid("noise-number", lambda: AffinityBandit([0.4], noise=3), "noise | got 3"),
    invalid("noise-class", lambda: AffinityBandit([0.4], noise=Bernoulli), "noise"),
    invalid(
        "noise-name-list", lambda: AffinityBandit([0.4], noise={"name": ["gaussian"]}), "noise"
    ),
    unknown(
        "noise-unknown-key",
        lambda: AffinityBandit([0.4], noise={"name": "gaussian", "sgma": 1}),
        "parameter of noise gaussian | did you mean 'sigma'?",
    ),
    invalid("sigma-negative", lambda: Gaussian(-1.0), "sigma | at least 0 | -1.0"),
    invalid("sigma-nan", lambda: Gaussian(math.nan), "sigma | nan"),
    unknown(
        "mechanism-unknown",
        lambda: AffinityBandit([0.4], mechanism="scald"),
        "mechanism | did you mean 'scaled'?",
    ),
    unknown("mechanism-number", lambda: AffinityBandit([0.4], mechanism=1), "mechanism"),
    # Memory.
    invalid("memory-zero", lambda: AffinityBandit([0.4], memory=0), "memory | from 1"),
    invalid("memory-boolean", lambda: AffinityBandit([0.4], memory=True), "memory"),
    invalid("memory-too-large", lambda: AffinityBandit([0.4], memory=10**9), "memory"),
    refused("leaving-order-without-memory", BANDIT.leaving_order, "memory"),
    # Questions about a bandit.
    invalid("feedback-arm", lambda: BANDIT.expected_feedback(2, 0.5), "arm | 0 to 1"),
    invalid("feedback-share", lambda: BANDIT.expected_feedback(0, 1.5), "share | 1.5"),
    invalid("regret-of-three-arms", lambda: BANDIT.regret([1, 2, 3]), "pulls"),
    # Saved descriptions.
    invalid("bandit-none", lambda: AffinityBandit.from_json(None), "bandit | None"),
    invalid("bandit-without-means", lambda: AffinityBandit.from_json({}), "true_means"),
    unknown(
        "bandit-unknown-key",
        lambda: AffinityBandit.from_json({"true_meens": [0.4]}),
        "parameter of the bandit | did you mean 'true_means'?",
    ),
]

POLICIES = [
    # Settings, at least one of every policy that has any.
    invalid("elimination-schedule", lambda: Elimination(5), "schedule | got 5"),
    invalid(
        "elimination-flag",
        lambda: Elimination(discard_first=1),
        "discard_first | true or false | got 1",
    ),
    invalid("published-beyond-60", lambda: PublishedSchedule(61), "offset | 61"),
    invalid("published-nan", lambda: PublishedSchedule(math.nan), "offset | nan"),
    invalid("listed-empty", lambda: ListedSchedule([]), "rounds | at least one"),
    invalid("listed-number", lambda: ListedSchedule([1]), "rounds[0] | pair | got 1"),
    invalid("listed-triple", lambda: ListedSchedule([(1, 2, 3)]), "rounds[0] | pair"),
    invalid(
        "listed-no-repetitions",
        lambda: ListedSchedule([(1, 0.5), (0, 0.5)]),
        "rounds[1].repetitions | got 0",
    ),
    invalid(
        "listed-threshold-nan", lambda: ListedSchedule([(1, math.nan)]), "rounds[0].threshold | nan"
    ),
    invalid("explore-zero", lambda: ExploreThenCommit(0), "pulls_per_arm | got 0"),
    invalid("rejects-zero", lambda: SuccessiveRejects(0.0), "budget | (0, 1]"),
    invalid("halving-beyond-1", lambda: SequentialHalving(1.1), "budget | 1.1"),
    invalid("ucb1-negative", lambda: UCB1(-1.0), "exploration | at least 0 | -1.0"),
    invalid("ucb1-huge", lambda: UCB1(HUGE), "exploration | finite"),
    invalid("kl-ucb-infinite", lambda: KLUCB(math.inf), "log_log_factor | inf"),
    invalid("moss-text", lambda: MOSS("1"), "scale | '1'"),
    invalid("ucb-v-c", lambda: UCBV(c=-1.0), "c must | at least 0 | -1.0"),
    invalid("ucb-v-zeta", lambda: UCBV(zeta=math.nan), "zeta | nan"),
    invalid("ucb-v-bound", lambda: UCBV(bound=True), "bound | True"),
    invalid("debiased-bias", lambda: DebiasedUCBV(3), "bias | Power(1.0) | got 3"),
    invalid("debiased-class", lambda: DebiasedUCBV(Power), "bias | Power(1.0)"),
    invalid("debiased-pulls-zero", lambda: DebiasedUCBV(Power(), [0]), "initial_pulls[0] | got 0"),
    invalid(
        "debiased-pulls-too-large",
        lambda: DebiasedUCBV(Power(), [10**15] * 10_000).start(10_000, 10),
        "initial_pulls",
    ),
    invalid(
        "debiased-smallest-bound",
        lambda: DebiasedUCBV(Power(), smallest_bound=-1.0),
        "smallest_bound | -1.0",
    ),
    invalid("efficient-rho", lambda: EfficientUCBV(0.0), "rho | above 0"),
    invalid("efficient-psi", lambda: EfficientUCBV(psi=-1.0), "psi | above 0"),
    invalid("exp3-rate", lambda: EXP3(0.0), "rate | above 0"),
    invalid("exp3-gains-mixing", lambda: EXP3Gains(1.5), "mixing | (0, 1] | 1.5"),
    invalid("exp3-ix-implicit", lambda: EXP3IX(implicit=-1.0), "implicit | -1.0"),
    invalid("lucb-delta", lambda: LUCB(delta=1.0), "delta | (0, 1) | 1.0"),
    invalid("lucb-sigma", lambda: LUCB(sigma=0.0), "sigma | above 0"),
    invalid("thompson-beta", lambda: ThompsonBeta(0.0), "prior_successes | above 0"),
    invalid(
        "thompson-beta-failures",
        lambda: ThompsonBeta(prior_failures=math.inf),
        "prior_failures | inf",
    ),
    invalid("thompson-gaussian", lambda: ThompsonGaussian(0.0), "sigma | above 0"),
    invalid("epsilon-beyond-1", lambda: EpsilonGreedy(1.5), "epsilon | [0, 1] | 1.5"),
    invalid("oracle-negative", lambda: Oracle(-1), "arm | -1"),
    invalid("oracle-half-an-arm", lambda: Oracle(0.5), "arm | whole | 0.5"),
    invalid("as-steps-of-steps", lambda: AsSteps(UCB1()), "policy | round policy"),
    # Sizes that a policy is started with.
    invalid("start-no-arms", lambda: Uniform().start(0, 10), "arms | from 1 | got 0"),
    invalid("start-no-horizon", lambda: MOSS().start(2, 0), "horizon | from 1 | got 0"),
    invalid("start-oracle-outside", lambda: Oracle(2).start(2, 10), "arm | 2 arms"),
]

POLICIES_FROM_DATA = [
    invalid("policy-none", lambda: policy_from_json(None), "policy | None"),
    invalid("policy-list", lambda: policy_from_json(["ucb1"]), "policy | ucb1"),
    unknown("policy-without-name", lambda: policy_from_json({}), "policy | None"),
    invalid("policy-name-list", lambda: policy_from_json({"name": ["ucb1"]}), "policy"),
    unknown(
        "policy-unknown",
        lambda: policy_from_json("eliminaton"),
        "policy | did you mean 'elimination'?",
    ),
    unknown(
        "policy-in-capitals", lambda: policy_from_json("UCB1"), "policy | did you mean 'ucb1'?"
    ),
    unknown(
        "policy-unknown-key",
        lambda: policy_from_json({"name": "ucb1", "exploraton": 1}),
        "parameter of policy ucb1 | did you mean 'exploration'?",
    ),
    unknown(
        "policy-key-of-a-policy-without-any",
        lambda: policy_from_json({"name": "uniform", "rate": 1}),
        "parameter of policy uniform | 'rate'",
    ),
    invalid(
        "policy-wrong-value",
        lambda: policy_from_json({"name": "epsilon-greedy", "epsilon": 2}),
        "epsilon | got 2",
    ),
    invalid("policy-bandit", lambda: policy_from_json("oracle", 3), "bandit | got 3"),
    invalid("policy-untold", lambda: policy_from_json("debiased-ucb-v"), "bias | told"),
    unknown(
        "policy-told-an-unknown-bias",
        lambda: policy_from_json({"name": "debiased-ucb-v", "bias": "powr"}),
        "bias | did you mean 'power'?",
    ),
    unknown(
        "schedule-unknown",
        lambda: policy_from_json({"name": "elimination", "schedule": {"name": "publised"}}),
        "schedule | did you mean 'published'?",
    ),
    invalid(
        "schedule-name-list",
        lambda: policy_from_json({"name": "elimination", "schedule": {"name": ["listed"]}}),
        "schedule",
    ),
    unknown(
        "schedule-unknown-key",
        lambda: policy_from_json(
            {"name": "elimination", "schedule": {"name": "published", "ofset": 1}}
        ),
        "parameter of schedule published | did you mean 'offset'?",
    ),
    invalid(
        "schedule-without-rounds",
        lambda: policy_from_json({"name": "elimination", "schedule": {"name": "listed"}}),
        "rounds",
    ),
    invalid(
        "schedule-short-form",
        lambda: policy_from_json({"name": "elimination", "offset": "x"}),
        "offset | 'x'",
    ),
]

SIMULATIONS = [
    invalid("simulate-means", lambda: simulated(bandit=[0.4]), "bandit | [0.4]"),
    # Policies.
    invalid("simulate-no-policy", lambda: simulated([]), "policies | at least one"),
    invalid("simulate-no-label", lambda: simulated({}), "policies | at least one"),
    invalid("simulate-policy-none", lambda: simulated(None), "policies | None"),
    invalid("simulate-policy-number", lambda: simulated([3]), "policies | got 3"),
    invalid("simulate-policy-class", lambda: simulated(UCB1), "policies | UCB1"),
    unknown(
        "simulate-policy-unknown",
        lambda: simulated(["moss", "ucb2"]),
        "policy | did you mean 'ucb1'?",
    ),
    invalid(
        "simulate-policy-twice",
        lambda: simulated(["ucb1", UCB1()]),
        "policies | different | 'ucb1'",
    ),
    invalid(
        "simulate-label-twice",
        lambda: simulated({1: "ucb1", "1": "moss"}),
        "policies | different | '1'",
    ),
    invalid("simulate-oracle-outside", lambda: simulated(Oracle(5)), "arm | 2 arms | got 5"),
    invalid(
        "simulate-told-of-three-arms",
        lambda: simulated(DebiasedUCBV(Power(), [1, 2, 3])),
        "initial_pulls | (2) | 3 entries",
    ),
    # Numbers.
    invalid("horizon-zero", lambda: simulated(horizon=0), "horizon | from 1 | got 0"),
    invalid("horizon-too-long", lambda: simulated(horizon=TOO_LONG), "horizon"),
    invalid("horizon-huge", lambda: simulated(horizon=HUGE), "horizon | 100000"),
    invalid("horizon-fraction", lambda: simulated(horizon=2.5), "horizon | 2.5"),
    invalid("horizon-nan", lambda: simulated(horizon=math.nan), "horizon | nan"),
    invalid("horizon-infinite", lambda: simulated(horizon=math.inf), "horizon | inf"),
    invalid("horizon-text", lambda: simulated(horizon="10"), "horizon | '10'"),
    invalid("horizon-boolean", lambda: simulated(horizon=True), "horizon | True"),
    invalid("replicates-zero", lambda: simulated(replicates=0), "replicates | got 0"),
    invalid("replicates-none", lambda: simulated(replicates=None), "replicates"),
    unsupported(
        "replicates-beyond-memory",
        lambda: simulated(replicates=10**9),
        "1000000000 replicates | first_replicate",
    ),
    invalid("seed-negative", lambda: simulated(seed=-1), "seed | from 0 | -1"),
    invalid("seed-of-129-bits", lambda: simulated(seed=2**128), "seed"),
    invalid("seed-infinite-single", lambda: simulated(seed=np.float32("inf")), "seed | inf"),
    invalid("seed-none", lambda: simulated(seed=None), "seed | None"),
    invalid("first-negative", lambda: simulated(first_replicate=-1), "first_replicate"),
    # Checkpoints.
    invalid("checkpoints-zero", lambda: simulated(checkpoints=0), "checkpoints | got 0"),
    invalid("checkpoints-boolean", lambda: simulated(checkpoints=True), "checkpoints"),
    invalid("checkpoints-none", lambda: simulated(checkpoints=None), "checkpoints"),
    invalid("checkpoints-text", lambda: simulated(checkpoints="5"), "checkpoints | '5'"),
    invalid(
        "checkpoints-beyond-horizon",
        lambda: simulated(checkpoints=[5, 11]),
        "checkpoints[1] | to 10 | got 11",
    ),
    # Engines and progress.
    unknown("engine-unknown", lambda: simulated(engine="round"), "engine | did you mean 'rounds'?"),
    unknown("engine-none", lambda: simulated(engine=None), "engine | None"),
    unsupported(
        "engine-rounds-of-steps",
        lambda: simulated(engine="rounds"),
        "engine 'rounds' | ucb1 | every single feedback",
    ),
    unsupported(
        "engine-rounds-with-memory",
        lambda: simulated("uniform", bandit=AffinityBandit([0.4], memory=5), engine="rounds"),
        "engine 'rounds' | uniform | bounded memory",
    ),
    unsupported(
        "engine-rounds-of-weighted-coins",
        lambda: simulated(
            "uniform", bandit=AffinityBandit([0.4], mechanism="scaled"), engine="rounds"
        ),
        "engine 'rounds' | weighted sum",
    ),
    invalid("progress-text", lambda: simulated(progress="yes"), "progress | 'yes'"),
]

LIVE_RUNS = [
    invalid("live-name", lambda: Live("ucb1", 2, 10), "policy | 'ucb1'"),
    invalid("live-class", lambda: Live(UCB1, 2, 10), "policy | UCB1"),
    invalid("live-no-arms", lambda: Live(UCB1(), 0, 10), "arms | from 1 | got 0"),
    invalid("live-arms-boolean", lambda: Live(UCB1(), True, 10), "arms | True"),
    invalid("live-too-long", lambda: Live(UCB1(), 2, TOO_LONG), "horizon"),
    invalid("live-seed", lambda: Live(UCB1(), 2, 10, seed=-1), "seed | -1"),
    invalid("live-replicate", lambda: Live(UCB1(), 2, 10, replicate=-1), "replicate"),
    invalid("tell-before-ask", lambda: live(asked=False).tell(0, 1.0), "arm | asked"),
    invalid("tell-another-arm", lambda: live().tell(1, 1.0), "arm | (0) | got 1"),
    invalid("tell-arm-text", lambda: live().tell("0", 1.0), "arm | '0'"),
    invalid("tell-arm-boolean", lambda: live().tell(False, 1.0), "arm | False"),
    invalid("tell-two-arms", lambda: live().tell(np.arange(2), 1.0), "arm | array"),
    invalid("tell-nan", lambda: live().tell(0, math.nan), "feedback | nan"),
    invalid("tell-infinite", lambda: live().tell(0, -math.inf), "feedback | -inf"),
    invalid("tell-infinite-single", lambda: live().tell(0, np.float32("inf")), "feedback | inf"),
    invalid("tell-huge", lambda: live().tell(0, HUGE), "feedback | finite"),
    invalid("tell-boolean", lambda: live().tell(0, True), "feedback | True"),
    invalid("tell-none", lambda: live().tell(0, None), "feedback | None"),
    # Saved runs.
    mismatch(
        "live-of-another-policy",
        lambda: Live.from_json(MOSS(), live().to_json()),
        "'ucb1' | 'moss'",
    ),
    mismatch(
        "live-of-other-settings",
        lambda: Live.from_json(UCB1(3.0), live().to_json()),
        "'exploration': 2.0 | 'exploration': 3.0",
    ),
    mismatch(
        "live-of-another-version",
        lambda: Live.from_json(UCB1(), changed(live().to_json(), version=99)),
        "version 99 | version 1",
    ),
    mismatch(
        "live-of-another-format",
        lambda: Live.from_json(UCB1(), changed(live().to_json(), format=7)),
        "format 7",
    ),
    mismatch(
        "live-of-more-arms",
        lambda: Live.from_json(UCB1(), changed(live().to_json(), arms=3)),
        "pulls | (2,) | (3,)",
    ),
    mismatch(
        "live-of-other-fields",
        lambda: Live.from_json(UCB1(), changed(live().to_json(), state={"sums": [0.0]})),
        "['sums'] | 'inverse_roots'",
    ),
    mismatch(
        "live-of-a-policy-with-a-long-description",
        lambda: Live.from_json(
            UCB1(), Live(DebiasedUCBV(Power(), [1] * 300), arms=300, horizon=10).to_json()
        ),
        "debiased-ucb-v | ucb1",
    ),
    refused("live-not-json", lambda: Live.from_json(UCB1(), "{"), "JSON"),
    refused("live-json-list", lambda: Live.from_json(UCB1(), "[]"), "format"),
    refused(
        "live-without-stream",
        lambda: Live.from_json(UCB1(), without(live().to_json(), "stream")),
        "stream",
    ),
    refused(
        "live-state-of-words",
        lambda: Live.from_json(UCB1(), state_with(live().to_json(), pulls=["a", "b"])),
        "pulls",
    ),
    refused(
        "live-waiting-for-an-arm-outside",
        lambda: Live.from_json(UCB1(), changed(live().to_json(), pending=9)),
        "pending | 9",
    ),
]

STEP_RUNS = [
    invalid("run-means", lambda: StepRun([0.4], UCB1(), 10), "bandit | [0.4]"),
    invalid("run-name", lambda: StepRun(BANDIT, "ucb1", 10), "policy | 'ucb1'"),
    invalid("run-horizon", lambda: StepRun(BANDIT, UCB1(), 0), "horizon | got 0"),
    invalid("run-too-long", lambda: StepRun(BANDIT, UCB1(), TOO_LONG), "horizon"),
    invalid("run-seed", lambda: StepRun(BANDIT, UCB1(), 10, seed=-1), "seed | -1"),
    invalid("run-replicate", lambda: StepRun(BANDIT, UCB1(), 10, 0, 1.5), "replicate"),
    invalid("restart-negative", lambda: step_run().restart(-1), "replicate | -1"),
    invalid("advance-beyond", lambda: step_run().advance(11), "until | to 10 | 11"),
    invalid("advance-text", lambda: step_run().advance("5"), "until | '5'"),
    # The compiled loop checks no bounds: these would write to memory that is not theirs.
    invalid(
        "advance-room-too-short",
        lambda: step_run().advance(5, np.array([1, 2, 3]), room(1, 2)),
        "out | (1, 2)",
    ),
    invalid(
        "advance-room-too-narrow",
        lambda: step_run().advance(5, np.array([1, 2, 3]), room(3, 1)),
        "out | (3, 1)",
    ),
    # Taken as they are, checkpoints out of order would be left at 0 pulls without a word.
    invalid(
        "advance-checkpoints-out-of-order",
        lambda: step_run().advance(5, np.array([2, 1]), room(2, 2)),
        "checkpoints | ascending",
    ),
    # Saved runs.
    mismatch(
        "run-of-another-policy",
        lambda: StepRun.from_json(BANDIT, MOSS(), step_run().to_json()),
        "'ucb1' | 'moss'",
    ),
    mismatch(
        "run-on-another-bandit",
        lambda: StepRun.from_json(AffinityBandit([0.1, 0.2]), UCB1(), step_run().to_json()),
        "[0.4, 0.6] | [0.1, 0.2]",
    ),
    mismatch(
        "run-on-another-crowd",
        lambda: StepRun.from_json(CROWD, UCB1(), step_run().to_json()),
        "[0.4, 0.6]",
    ),
    refused(
        "run-of-another-format",
        lambda: StepRun.from_json(BANDIT, UCB1(), changed(step_run().to_json(), format=7)),
        "format | 7",
    ),
    refused("run-not-json", lambda: StepRun.from_json(BANDIT, UCB1(), "no"), "JSON"),
    refused(
        "run-without-committee",
        lambda: StepRun.from_json(BANDIT, UCB1(), without(step_run().to_json(), "committee")),
        "committee",
    ),
]

ENVIRONMENTS = [
    invalid("environment-means", lambda: Environment([0.4]), "bandit | [0.4]"),
    invalid("environment-seed", lambda: Environment(BANDIT, seed=-1), "seed | -1"),
    invalid("environment-replicate", lambda: Environment(BANDIT, 0, -1), "replicate"),
    invalid("pull-outside", lambda: Environment(BANDIT).pull(2), "arm | 0 to 1 | 2"),
    invalid("pull-from-the-end", lambda: Environment(BANDIT).pull(-1), "arm | -1"),
    invalid("pull-none", lambda: Environment(BANDIT).pull(None), "arm | None"),
]

RESULTS = [
    invalid("level-certain", lambda: finished("a").regret_band(1.0), "level | (0, 1)"),
    invalid("level-percent", lambda: finished("a").summary(95), "level | 95"),
    invalid("level-nan", lambda: finished("a").summary(math.nan), "level | nan"),
    unknown(
        "label-unknown",
        lambda: finished("ucb1", "moss").index("mos"),
        "policy | did you mean 'moss'?",
    ),
    unknown(
        "label-unknown-among-many",
        lambda: finished(*(f"policy number {i}" for i in range(60))).index("policy number 60"),
        "'policy number 60' | did you mean",
    ),
    # Files; a file that is not there stays the FileNotFoundError that every reader knows.
    invalid("load-number", lambda: Result.load(3), "path | got 3"),
    invalid("load-nothing", lambda: loaded(b""), "path | result.npz"),
    invalid("load-text", lambda: loaded(b"hello"), "path | result.npz"),
    invalid("load-array", lambda: loaded(single_array()), "path | result.npz"),
    invalid("load-half", lambda: loaded(saved_result()[:-200]), "path | result.npz"),
    invalid(
        "load-other-arrays",
        lambda: loaded(archive(a=np.arange(3))),
        "path | saved by this package | result.npz",
    ),
    invalid(
        "load-header-not-json", lambda: loaded(archive(header=np.array("{"))), "path | result.npz"
    ),
    invalid(
        "load-another-format",
        lambda: loaded(archive(header=np.array('{"format": 9}'))),
        "path | format 1 | got 9",
    ),
    invalid(
        "load-header-alone",
        lambda: loaded(archive(header=np.array('{"format": 1}'))),
        "path | result.npz",
    ),
    # Pictures.
    missing(
        "draw-without-matplotlib", drawn_without_matplotlib, "matplotlib | affinity-bandits[plot]"
    ),
    invalid("draw-level", lambda: draw_regret(finished("a"), 2.0), "level | 2.0"),
]

ROWS = [
    *BIASES,
    *CUSTOM_BIASES,
    *BIASES_FROM_DATA,
    *BANDITS,
    *POLICIES,
    *POLICIES_FROM_DATA,
    *SIMULATIONS,
    *LIVE_RUNS,
    *STEP_RUNS,
    *ENVIRONMENTS,
    *RESULTS,
]


@pytest.mark.parametrize(("call", "error", "says"), ROWS)
def test_wrong_input_is_refused_in_one_line_that_names_it(
    call: Callable[[], object], error: type[AffinityError], says: list[str]
) -> None:
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert len(message) <= LONGEST_MESSAGE
    for part in says:
        assert part in message


def test_no_two_rows_have_the_same_name() -> None:
    names = [wrong.id for wrong in ROWS]
    assert len(set(names)) == len(names)


def test_every_error_is_caught_as_what_python_would_have_raised() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(MissingExtra, ImportError)
    for error in (InvalidInput, UnknownName, NotSupported, StateMismatch, MissingExtra):
        assert issubclass(error, AffinityError)


def test_an_invalid_input_carries_parameter_rule_and_value() -> None:
    with pytest.raises(InvalidInput) as caught:
        Power(0.5)
    error = caught.value
    assert (error.parameter, error.value) == ("alpha", 0.5)
    assert str(error) == f"alpha must be {error.rule}, got 0.5"


def test_a_refused_feedback_changes_nothing() -> None:
    run = live()
    before = run.to_json()
    with pytest.raises(InvalidInput):
        run.tell(0, math.nan)
    assert run.to_json() == before
    run.tell(0, 1.0)
