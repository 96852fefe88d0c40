"""One replicate, pull by pull, with a log of its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.digests import own_code
from affinity_bandits.errors import NotSupported
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.simulation.environment import require_bandit
from affinity_bandits.simulation.log_loop import Notes, bound_log, other_noise
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.run_log import RunLog
from affinity_bandits.simulation.simulator import MOST_BYTES, require_policy
from affinity_bandits.simulation.step_loop import bound_noise

SLICE_NUMBERS = 4_000_000
"""Numbers written by one compiled call: a tenth of a second, so that an interrupt is heard."""


class LoggedRun(StepRun):
    """A `StepRun` that writes down its decisions.

    Args:
        bandit: the instance.
        policy: a step policy, or a round policy, which is then played one pull at a time.
        horizon: pulls of every replicate, all of which are written down.
        seed: of all randomness.
        unchosen: whether the arms that are not chosen are scored, too.

    Raises:
        NotSupported: the log of a replicate does not fit in memory.
    """

    def __init__(
        self,
        bandit: AffinityBandit,
        policy: StepPolicy | RoundPolicy,
        horizon: int,
        seed: int = 0,
        unchosen: bool = False,
    ) -> None:
        self._has_panels = require_bandit(bandit).judges.who != "committee"
        self._unchosen = checks.flag("unchosen", unchosen)
        self._width = 5 + bandit.arms * (self._has_panels + self._unchosen)
        rows = checks.integer("horizon", horizon, low=1)
        if 8 * self._width * rows > MOST_BYTES:
            raise NotSupported(
                f"a log of {rows:,} pulls does not fit in {MOST_BYTES // 2**30} GiB: ask for "
                f"at most {MOST_BYTES // (8 * self._width):,}"
            )
        super().__init__(bandit, policy, rows, seed)
        kernels = self.policy.kernels()
        self._loop = bound_log(kernels, own_code(kernels, strict=False))
        self._other_draws = bound_noise(self._arena.law, False)
        self._others = other_noise(self.seed, bandit.arms if self._unchosen else 0)

    def log(self, replicate: int) -> RunLog:
        """Play one replicate from its first pull to its last, and return its log."""
        self.restart(replicate)
        rows, arms = self.horizon, self.bandit.arms
        columns: dict[str, Any] = {
            "arm": np.empty(rows, dtype=np.int64),
            "score": np.empty(rows),
            "share": np.empty(rows),
            "joined": np.empty(rows, dtype=np.bool_),
            "round": np.empty(rows, dtype=np.int64),
        }
        scores = np.empty((rows if self._unchosen else 0, arms))
        # A round has at least one pull; room that no round needs is never touched.
        panels = np.empty((rows if self._has_panels else 0, arms), dtype=np.int64)
        written = np.zeros(2, dtype=np.int64)
        slice_rows = max(1, SLICE_NUMBERS // self._width)
        for start in range(0, rows, slice_rows):
            stop = min(rows, start + slice_rows)
            written[0] = 0
            notes = Notes(
                written=written,
                **{name: column[start:stop] for name, column in columns.items()},
                panels=panels,
                scores=scores[start:stop],
                others=self._others,
            )
            addresses = (self._other_draws.address,)
            self._play(self._loop, addresses, (np.uint64(self.replicate), stop, notes))
        rounds = int(written[1])
        if rounds < len(panels):
            panels = panels[:rounds].copy()
        return RunLog(
            bandit=self.bandit,
            policy=self.policy.to_json(),
            seed=self.seed,
            replicate=self.replicate,
            **columns,
            panels=panels if self._has_panels else None,
            scores=scores if self._unchosen else None,
        )


def simulate_log(
    bandit: AffinityBandit,
    policy: AnyPolicy | str | Mapping[str, Any],
    horizon: int,
    seed: int = 0,
    *,
    replicate: int = 0,
    unchosen: bool = False,
) -> RunLog:
    """Run a policy on one replicate of a bandit and return all of its decisions, in their order.

    They are those of the replicate of that number that `simulate` runs with `engine="steps"`.

    Args:
        bandit: the instance.
        policy: a policy, or its name. One that plans rounds is played one pull at a time.
        horizon: pulls, each of which is a row of the log.
        seed: of all randomness.
        replicate: which of the independent runs of that seed.
        unchosen: whether the arms that are not chosen are scored, too, as where everybody is
            scored and one is chosen. Their scores are drawn from streams of their own, so that
            all else is the same.

    Raises:
        NotSupported: the log does not fit in memory.

    >>> from affinity_bandits import AffinityBandit, Power
    >>> bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    >>> log = simulate_log(bandit, "ucb1", 1_000, seed=1)
    >>> log.arm[:2].tolist(), log.share[:1].round(3).tolist()
    ([0, 1], [0.909])
    """
    chosen = require_policy("policy", policy, require_bandit(bandit))
    return LoggedRun(bandit, chosen, horizon, seed, unchosen).log(replicate)
