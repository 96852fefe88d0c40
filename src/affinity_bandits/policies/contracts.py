"""The contracts of step and round policies: state, choices, feedback, candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import StateMismatch, shown
from affinity_bandits.base.registry import Description
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, kernel
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies.explaining import Explains
from affinity_bandits.policies.in_order import InOrder
from affinity_bandits.policies.judging import MeetsJudges, anybody, meet_nobody
from affinity_bandits.policies.planned import Planned
from affinity_bandits.policies.state import copy_state, state_from_json, state_to_json


@dataclass(frozen=True)
class Policy(Description):
    """An immutable description of a policy; its run-time data is a separate state.

    Subclasses are frozen dataclasses, validated in `__post_init__`. To write your own, derive from
    `StepPolicy` or `RoundPolicy`; each has a complete example.

    >>> from affinity_bandits import UCB1
    >>> UCB1(exploration=0.5).to_json()
    {'name': 'ucb1', 'exploration': 0.5}
    >>> UCB1.from_json({"name": "ucb1"}) == UCB1()
    True

    Attributes:
        name: its name in files and on the command line.
        version: raised whenever the meaning of a saved state changes.
        randomized: whether `select` draws from its random stream.
        eliminates: whether the policy drops arms from its candidates.
        information: "feedback", or all that the policy is told.
        in_python: whether it runs in plain Python only.
        judged_by: the judges for whom its guarantee is proven: "everybody" who was chosen, the
            "members" of a committee, a "panel", "recused" or the last in "memory". Empty if it
            has no guarantee under a bias.
        told: settings that are filled in from the bandit: "bias", "initial pulls", "best arm" or
            "memory".
    """

    version: ClassVar[int] = 1
    randomized: ClassVar[bool] = False
    eliminates: ClassVar[bool] = False
    information: ClassVar[str] = "feedback"
    in_python: ClassVar[bool] = False
    judged_by: ClassVar[str] = ""
    told: ClassVar[Mapping[str, str]] = {}

    def start(self, arms: int, horizon: int) -> Any:
        """Return a fresh state for `arms` arms and a declared horizon."""
        raise NotImplementedError

    @staticmethod
    @kernel
    def candidate(state: Any, arm: int) -> bool:
        """Return whether this arm may still be the best."""
        return True

    @property
    def told_judges(self) -> bool:
        """Whether `meet` must be called before each round."""
        return False

    @property
    def assumes(self) -> Feedback:
        """The feedback that the policy's theorem assumes, with these settings."""
        return ANYTHING

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild a description of this class from `to_json`."""
        given = {key: value for key, value in data.items() if key != "name"}
        checks.settings(f"parameter of policy {cls.name}", cls, given)
        return cls(**given)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return descriptions that the contract suite of `affinity_bandits.testing` runs."""
        return [cls()]

    def save(self, state: Any, arms: int, horizon: int) -> dict[str, Any]:
        """Return a state with all that is needed to resume from it, as JSON-ready data."""
        return {
            "policy": self.to_json(),
            "version": self.version,
            "arms": arms,
            "horizon": horizon,
            "state": state_to_json(state),
        }

    def load(self, saved: Mapping[str, Any]) -> Any:
        """Return the state that `save` wrote.

        Raises:
            StateMismatch: it was written by another policy, other settings or another version.
        """
        if saved["policy"] != self.to_json() or saved["version"] != self.version:
            raise StateMismatch(
                f"the state was saved by {shown(saved['policy'])} version {saved['version']}, "
                f"this is {shown(self.to_json())} version {self.version}"
            )
        template = self.start(saved["arms"], saved["horizon"])
        return state_from_json(template, saved["state"])

    def __str__(self) -> str:
        """Return the name with every setting that differs from its default."""
        changed = []
        for item in fields(self):
            value = getattr(self, item.name)
            if value != item.default:
                shortened = f"{value:g}" if isinstance(value, float) else value
                changed.append(f"{item.name}={shortened}")
        return f"{self.name}({', '.join(changed)})" if changed else self.name


def check_size(arms: int, horizon: int) -> None:
    """Check the number of arms and the horizon that `start` is given.

    Raises:
        InvalidInput: the number of arms or the horizon is out of range.
    """
    checks.integer("arms", arms, low=1, high=10**6)
    checks.integer("horizon", horizon, low=1)


@kernel
def always(state: Any) -> bool:
    """Return True: every pull is a round of its own."""
    return True


class StepKernels(NamedTuple):
    """The functions that a loop calls at every pull.

    The last three are for bandits with a panel or partial joining.
    """

    select: Function
    update: Function
    candidate: Function
    opens: Function = always
    meet: Function = meet_nobody
    fewest_seats: Function = anybody


@dataclass(frozen=True)
class StepPolicy(Policy):
    """A policy that chooses after every single feedback.

    `select`, `update` and `candidate` are kernels (see `affinity_bandits.kernels.kernel`): static
    functions without closures that change only the arrays of the state. Arms are numbered from 0.

    >>> from affinity_bandits import AffinityBandit, simulate
    >>> from affinity_bandits.policies.state import counts
    >>> class LeastState(NamedTuple):
    ...     pulls: np.ndarray
    >>> @dataclass(frozen=True)
    ... class LeastPulled(StepPolicy):
    ...     name = "least-pulled"
    ...     def start(self, arms, horizon):
    ...         return LeastState(counts(arms))
    ...     @staticmethod
    ...     def select(state, rng):
    ...         best = 0
    ...         for arm in range(len(state.pulls)):
    ...             if state.pulls[arm] < state.pulls[best]:
    ...                 best = arm
    ...         return best
    ...     @staticmethod
    ...     def update(state, arm, feedback):
    ...         state.pulls[arm] += 1
    >>> bandit = AffinityBandit([0.4, 0.6])
    >>> simulate(bandit, LeastPulled(), 10, 1, engine="python").pulls[0, 0, -1].tolist()
    [5, 5]
    """

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        """Return the arm to pull next. Only policies marked `randomized` may draw from `rng`."""
        raise NotImplementedError

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        """Update the state with the feedback of the arm that `select` returned."""
        raise NotImplementedError

    def kernels(self) -> StepKernels:
        """Return the kernels, with everything they need bound."""
        return StepKernels(self.select, self.update, self.candidate)


FOREVER = 2**62
"""Repetitions of a round that never ends, which a policy plans once it has decided."""


class Round(NamedTuple):
    """A round: each arm is pulled `repetitions` times, in turn, in the order given.

    Slot s of the round (from 0) belongs to `arms[s % len(arms)]`. `RoundPolicy.order_window` is
    how far out of order slots may be answered.
    """

    arms: IntArray
    repetitions: int


class RoundKernels(NamedTuple):
    """The functions that an engine calls once per round."""

    plan: Function
    absorb: Function
    candidate: Function
    meet: Function = meet_nobody
    fewest_seats: Function = anybody


@dataclass(frozen=True)
class RoundPolicy(Policy, MeetsJudges, Explains, Planned, InOrder):
    """A policy that announces whole rounds and learns only from their sums or counts.

    `plan`, `absorb` and `candidate` are kernels (see `affinity_bandits.kernels.kernel`). `plan`
    only reads the state. A round that the horizon cuts short is ignored. The rest is optional: who
    judges (`MeetsJudges`), what pages tell (`Explains`), what plans need (`Planned`), and how far
    slots may be answered out of order (`InOrder`).
    """

    @staticmethod
    def plan(state: Any) -> Round:
        """Return the round to play next; its arms may be a view into the state."""
        raise NotImplementedError

    @staticmethod
    def absorb(state: Any, seen: FloatArray) -> None:
        """Update the state with the feedback of each planned arm, in the plan's order.

        `seen` has a sum per arm or, for a policy with nodes, a count per arm and node.
        """
        raise NotImplementedError

    @property
    def nodes(self) -> tuple[float, ...]:
        """Scores at which a round's feedback is counted, ascending; empty if sums are enough.

        Feedback between two nodes is split between them with its mean preserved.
        """
        return ()

    def kernels(self) -> RoundKernels:
        """Return the kernels, with everything they need bound."""
        return RoundKernels(self.plan, self.absorb, self.candidate, self.meet, self.fewest_seats)

    def met(self, state: Any, judges: Sequence[int]) -> Any:
        """Return a copy of the state after `meet`."""
        after = copy_state(state)
        self.kernels().meet(after, np.array(judges, dtype=np.int64))
        return after

    def absorbed(self, state: Any, seen: FloatArray) -> Any:
        """Return a copy of the state after `absorb`."""
        after = copy_state(state)
        self.kernels().absorb(after, seen)
        return after


@kernel
def add_score(nodes: FloatArray, score: float, seen: FloatArray, at: int) -> None:
    """Count a score at its node, or split it between its two neighbors with the same mean.

    A score beyond the first or last node counts there.

    Args:
        nodes: ascending.
        score: the score to count.
        seen: the counts, changed in place.
        at: the index of the first node's count.
    """
    last = len(nodes) - 1
    if score <= nodes[0]:
        seen[at] += 1.0
        return
    if score >= nodes[last]:
        seen[at + last] += 1.0
        return
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if score < nodes[middle]:
            high = middle
        else:
            low = middle
    above = (score - nodes[low]) / (nodes[high] - nodes[low])
    seen[at + low] += 1.0 - above
    seen[at + high] += above
