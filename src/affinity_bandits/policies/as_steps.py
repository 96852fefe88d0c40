"""The adapter that plays a round policy one pull at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits.errors import InvalidInput
from affinity_bandits.feedback import Feedback
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.round import RoundPolicy
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepKernels, StepPolicy
from affinity_bandits.policies.tallies import add_score, seen_size

plan: Function = unbound
absorb: Function = unbound
inner_candidate: Function = unbound
inner_meet: Function = unbound
inner_fewest_seats: Function = unbound


class AsStepsState(NamedTuple):
    """The round policy's own state and where in its round we are."""

    inner: Any
    slot: IntArray  # [0]: pulls made in this round; 0 means that the next one has to be planned
    size: IntArray  # [0]: arms in this round
    repetitions: IntArray  # [0]
    arms: IntArray
    nodes: FloatArray
    seen: FloatArray  # of the arms of this round, in their order


@dataclass(frozen=True)
class AsSteps(StepPolicy):
    """A round policy played round-robin through its plan, as a step policy.

    Its name in results is that of the round policy: it makes the same choices.
    """

    name: ClassVar[str] = "as-steps"
    policy: RoundPolicy

    def __post_init__(self) -> None:
        if not isinstance(self.policy, RoundPolicy):
            raise InvalidInput("policy", "a round policy", self.policy)

    @property
    def eliminates(self) -> bool:  # type: ignore[override]
        """Whether the round policy drops arms from its candidates."""
        return self.policy.eliminates

    @property
    def revision(self) -> int:  # type: ignore[override]
        """That of the round policy."""
        return self.policy.revision

    @property
    def in_python(self) -> bool:  # type: ignore[override]
        """Whether the round policy runs in plain Python only."""
        return self.policy.in_python

    @property
    def assumes(self) -> Feedback:
        """What the round policy assumes."""
        return self.policy.assumes

    @classmethod
    def examples(cls) -> list[Self]:
        return []

    def start(self, arms: int, horizon: int) -> AsStepsState:
        return AsStepsState(
            inner=self.policy.start(arms, horizon),
            slot=counts(1),
            size=counts(1),
            repetitions=counts(1),
            arms=counts(arms),
            nodes=np.array(self.policy.nodes, dtype=np.float64),
            seen=reals(arms * max(1, len(self.policy.nodes))),
        )

    @staticmethod
    def select(state: AsStepsState, rng: np.random.Generator) -> int:
        if state.slot[0] == 0:
            planned = plan(state.inner)
            state.size[0] = len(planned.arms)
            state.repetitions[0] = planned.repetitions
            for position in range(len(planned.arms)):
                state.arms[position] = planned.arms[position]
            for place in range(len(state.seen)):
                state.seen[place] = 0.0
        return int(state.arms[state.slot[0] % state.size[0]])

    @staticmethod
    def update(state: AsStepsState, arm: int, feedback: float) -> None:
        size = state.size[0]
        each = seen_size(state.nodes)
        at = state.slot[0] % size * each
        if len(state.nodes) == 0:
            state.seen[at] += feedback
        else:
            add_score(state.nodes, feedback, state.seen, at)
        state.slot[0] += 1
        # Divided, not multiplied: a round that lasts forever would overflow the product.
        if state.slot[0] % size == 0 and state.slot[0] // size == state.repetitions[0]:
            absorb(state.inner, state.seen[: size * each])
            state.slot[0] = 0

    @staticmethod
    def candidate(state: AsStepsState, arm: int) -> bool:
        return bool(inner_candidate(state.inner, arm))

    @staticmethod
    def opens(state: AsStepsState) -> bool:
        """Return whether a round begins with the next pull; a kernel."""
        return bool(state.slot[0] == 0)

    @staticmethod
    def meet(state: AsStepsState, judges: IntArray) -> None:
        """Tell the round policy who judges its next round; a kernel."""
        inner_meet(state.inner, judges)

    @staticmethod
    def fewest_seats(state: AsStepsState) -> int:
        """Return which arm the round policy wants to have the fewest seats; a kernel."""
        return int(inner_fewest_seats(state.inner))

    def kernels(self) -> StepKernels:
        inner = self.policy.kernels()
        return StepKernels(
            bind(AsSteps.select, plan=inner.plan),
            bind(AsSteps.update, absorb=inner.absorb),
            bind(AsSteps.candidate, inner_candidate=inner.candidate),
            AsSteps.opens,
            bind(AsSteps.meet, inner_meet=inner.meet),
            bind(AsSteps.fewest_seats, inner_fewest_seats=inner.fewest_seats),
        )

    def to_json(self) -> dict[str, Any]:
        return self.policy.to_json()

    def __str__(self) -> str:
        return str(self.policy)


def as_steps(policy: object) -> StepPolicy:
    """Return a policy as a step policy, whichever kind it is."""
    if isinstance(policy, RoundPolicy):
        return AsSteps(policy)
    if isinstance(policy, StepPolicy):
        return policy
    raise InvalidInput("policy", "a step or a round policy such as UCB1()", policy)
