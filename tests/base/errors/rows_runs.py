"""Wrong simulations, live and stepwise runs, environments, results and pictures."""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits import AffinityBandit, Environment, Experiment, Live, Power, Result, StepRun
from affinity_bandits.plots import draw_regret
from affinity_bandits.policies import MOSS, UCB1, DebiasedUCBV, Oracle
from tests.base.errors.table import (
    BANDIT,
    CROWD,
    HUGE,
    TOO_LONG,
    archive,
    changed,
    drawn_without_matplotlib,
    finished,
    invalid,
    live,
    loaded,
    mismatch,
    missing,
    refused,
    room,
    saved_result,
    simulated,
    single_array,
    state_with,
    step_run,
    unknown,
    unsupported,
    without,
)

SIMULATIONS = [
    invalid("simulate-means", lambda: simulated(bandit=[0.4]), "bandit | [0.4]"),
    # Policies.
    invalid("simulate-no-policy", lambda: simulated([]), "policies | at least one"),
    invalid("simulate-no-label", lambda: simulated({}), "policies | at least one"),
    invalid("simulate-policy-none", lambda: simulated(None), "policies | None"),
    invalid("simulate-policy-number", lambda: simulated([3]), "policies | got 3"),
    invalid("simulate-policy-class", lambda: simulated(dict), "policies | <class 'dict'>"),
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
    missing("draw-without-matplotlib", drawn_without_matplotlib, "matplotlib | .[plot]"),
    invalid("draw-level", lambda: draw_regret(finished("a"), 2.0), "level | 2.0"),
    # Experiments.
    invalid("experiment-no-cells", lambda: Experiment([], 3), "cells | at least one"),
    invalid("experiment-word", lambda: Experiment("cells", 3), "cells | list | 'cells'"),
    invalid("experiment-name", lambda: Experiment(["ucb1"], 3), "cells[0] | Cell | 'ucb1'"),
]
