"""Wrong settings, sizes and descriptions of policies."""

from __future__ import annotations

import math

from affinity_bandits import Power, policy_from_json
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
    WeightedUCB,
)
from tests.base.errors.table import HUGE, invalid, unknown

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
    invalid("weighted-bias", lambda: WeightedUCB(3), "bias | Power(1.0) | got 3"),
    invalid("weighted-class", lambda: WeightedUCB(Power), "bias | Power(1.0)"),
    invalid("weighted-pulls-zero", lambda: WeightedUCB(Power(), [0]), "initial_pulls[0] | got 0"),
    invalid(
        "weighted-pulls-too-few",
        lambda: WeightedUCB(Power(), [1, 2]).start(3, 10),
        "initial_pulls | as long as there are arms (3)",
    ),
    invalid("weighted-sigma", lambda: WeightedUCB(Power(), sigma=0.0), "sigma | above 0"),
    invalid("weighted-growth", lambda: WeightedUCB(Power(), growth=1.5), "growth | 1.5"),
    invalid("efficient-rho", lambda: EfficientUCBV(0.0), "rho | above 0"),
    invalid("efficient-psi", lambda: EfficientUCBV(psi=-1.0), "psi | above 0"),
    invalid("exp3-rate", lambda: EXP3(0.0), "rate | above 0"),
    invalid(
        "exp3-rate-word", lambda: EXP3("any"), "rate | above 0, such as 0.05, or 'anytime' | 'any'"
    ),  # type: ignore[arg-type]
    invalid(
        "exp3-ix-anytime",
        lambda: EXP3IX("anytime", implicit=0.1),
        "implicit | left out with rate='anytime' | 0.1",
    ),
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
