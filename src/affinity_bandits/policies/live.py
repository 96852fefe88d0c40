"""A policy outside the simulator: ask for the next arm, tell its feedback, save and resume."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput, StateMismatch, shown
from affinity_bandits.policies.as_steps import as_steps
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import RoundPolicy
from affinity_bandits.policies.state import read_saved
from affinity_bandits.policies.step import StepPolicy
from affinity_bandits.streams import policy_generator, stream_from_json, stream_to_json

FORMAT = 2


class Live:
    """One run of a policy outside the simulator, in plain Python.

    It makes exactly the choices that the compiled loop makes on the same feedback and seed.
    Not safe for use from several threads at once.

    Args:
        policy: a step or a round policy.
        arms: the number of arms.
        horizon: the declared number of pulls; policies that plan ahead use it.
        seed: of the policy's own randomness; used only by randomised policies.
        replicate: which of the independent runs of that seed this is.

    >>> from affinity_bandits.policies import UCB1
    >>> live = Live(UCB1(), arms=2, horizon=100)
    >>> live.ask()
    0
    >>> live.tell(0, 1.0)
    >>> live.ask()
    1
    """

    def __init__(
        self,
        policy: StepPolicy | RoundPolicy,
        arms: int,
        horizon: int,
        seed: int = 0,
        replicate: int = 0,
    ) -> None:
        check_size(arms, horizon)
        self.policy = as_steps(policy)
        self.arms = int(arms)
        self.horizon = int(horizon)
        self.state = self.policy.start(self.arms, self.horizon)
        self._kernels = self.policy.kernels()
        self._rng = policy_generator(seed, self.policy.to_json(), replicate)
        self._pending: int | None = None
        self._told_judges = isinstance(policy, RoundPolicy) and policy.told_judges
        self._met = False

    @property
    def awaits_judges(self) -> bool:
        """Whether the policy must be told who judges (`meet`) before it can be asked."""
        return self._told_judges and not self._met and self._kernels.opens(self.state)

    @property
    def fewest_seats(self) -> int | None:
        """The arm that should have no more judges in the next round than any other has, if any."""
        arm = int(self._kernels.fewest_seats(self.state))
        return arm if arm >= 0 else None

    def meet(self, judges: Sequence[int]) -> None:
        """Tell how many of each arm judge the round that begins."""
        if not self.awaits_judges:
            raise InvalidInput(
                "judges", "told once, before each round of a policy that asks", judges
            )
        told = checks.integers_list("judges", judges, low=0)
        if len(told) != self.arms:
            raise InvalidInput("judges", f"a number for each of the {self.arms} arms", judges)
        self._kernels.meet(self.state, np.array(told, dtype=np.int64))
        self._met = True

    def ask(self) -> int:
        """Return the arm to pull next; the same one until its feedback is told."""
        if self.awaits_judges:
            raise InvalidInput("judges", "told (meet) before the first pull of a round", None)
        if self._pending is None:
            self._pending = int(self._kernels.select(self.state, self._rng))
        return self._pending

    def tell(self, arm: int, feedback: float) -> None:
        """Report the feedback of the arm that `ask` returned."""
        if self._pending is None:
            raise InvalidInput("arm", "asked for before its feedback is told", arm)
        told = checks.integer("arm", arm, low=0, high=self.arms - 1)
        if told != self._pending:
            raise InvalidInput("arm", f"the one that was asked for ({self._pending})", arm)
        value = checks.number("feedback", feedback)
        self._kernels.update(self.state, self._pending, value)
        self._pending = None
        if self._kernels.opens(self.state):
            self._met = False

    def candidates(self) -> tuple[int, ...]:
        """Return the arms that the policy still holds may be the best."""
        return tuple(i for i in range(self.arms) if self._kernels.candidate(self.state, i))

    def to_json(self) -> str:
        """Return everything needed to resume in another process, to the bit."""
        data = {
            "format": FORMAT,
            **self.policy.save(self.state, self.arms, self.horizon),
            "pending": self._pending,
            "met": self._met,
            "stream": stream_to_json(self._rng),
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, policy: StepPolicy | RoundPolicy, text: str) -> Live:
        """Resume from `to_json`; the policy must be the one that wrote it."""
        data = read_saved(text, FORMAT, ("pending", "met", "stream"))
        live = cls(policy, data["arms"], data["horizon"])
        live.state = live.policy.load(data)
        pending = data["pending"]
        if pending is not None and pending not in range(live.arms):
            raise StateMismatch(f"the saved run is pending on arm {shown(pending)}, which is none")
        live._pending = pending
        live._met = bool(data["met"])
        live._rng.bit_generator.state = stream_from_json(data["stream"])
        return live
