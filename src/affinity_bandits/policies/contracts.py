"""The contracts of step and round policies, and the optional answers of a round policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import StateMismatch, shown
from affinity_bandits.kernels import FloatArray, Function, IntArray, kernel
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies.state import copy_state, state_from_json, state_to_json
from affinity_bandits.registry import Description


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
            "members" of a committee, a "panel", "strangers" or the last in "memory". Empty if it
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

    @property
    def assumes(self) -> Feedback:
        """The feedback that the policy's theorem assumes, with these settings."""
        return ANYTHING

    @property
    def told_judges(self) -> bool:
        """Whether `meet` must be called before each round."""
        return False

    def start(self, arms: int, horizon: int) -> Any:
        """Return a fresh state for `arms` arms and a declared horizon."""
        raise NotImplementedError

    @staticmethod
    @kernel
    def candidate(state: Any, arm: int) -> bool:
        """Return whether this arm may still be the best."""
        return True

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
def meet_nobody(state: Any, judges: IntArray) -> None:
    """Update the state with how many of each arm judge the next round; by default, ignore it.

    Where people were chosen who are still to begin, two more numbers of each arm follow: how many
    of them may begin during the round, and how many will begin later.
    """


@kernel
def anybody(state: Any) -> int:
    """Return the arm that should have the fewest judges in the next round, ties allowed.

    -1, the default: any number will do.
    """
    return -1


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

    `select`, `update` and `candidate` are kernels (see `affinity_bandits.kernels`): static
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


LEADER = "{leader}"
"""Placeholder in `RoundExplanation.purpose` for the leader's name."""


@dataclass(frozen=True)
class PlayedRound:
    """A finished round that a policy is asked to explain.

    Attributes:
        number: from 0.
        arms: those that took part.
        candidates: arms that could still be the best when it began.
        dropped: arms that it dropped.
    """

    number: int
    arms: tuple[int, ...]
    candidates: frozenset[int]
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class RoundExplanation:
    """A policy's explanation of a finished round; all parts are optional.

    Texts are for laypeople: an arm is a "group" and feedback an "answer".

    Attributes:
        compares: whether the means of the round were compared.
        purpose: the use of a round that compares nothing, such as "they get a head start over
            {leader}". `LEADER` stands for the leader's name.
        leader: the arm that the others are compared with; None for the best of the round.
        tolerance: an arm is dropped if its mean lags the best by more than this.
        dropped_because: why arms were dropped, to be followed by ", so X was dropped".
        none_dropped_because: why all arms stayed, as a sentence.
    """

    compares: bool = True
    purpose: str = ""
    leader: int | None = None
    tolerance: float | None = None
    dropped_because: str = ""
    none_dropped_because: str = ""


@dataclass(frozen=True)
class Evidence:
    """The evidence against each arm as natural logarithms of odds.

    Attributes:
        against: the log-odds against each arm, in their order; above 0 if there is evidence. For a
            dropped arm, those when it was dropped; None if unknown.
        needed: the log-odds at which an arm is dropped now, above 0.
        leader: the arm that the others are compared with, if there is one.
        meaning: the meaning of such odds, in one or two sentences for laypeople.
    """

    against: tuple[float | None, ...]
    needed: float
    leader: int | None = None
    meaning: str = ""


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
class RoundPolicy(Policy):
    """A policy that announces whole rounds and learns only from their sums or counts.

    `plan`, `absorb` and `candidate` are kernels (see `affinity_bandits.kernels`); `plan` only reads
    the state. A round that the horizon cuts short is ignored. If `told_judges` is true, `meet` is
    called before each `plan`. Everything that pages and plans use is optional.

    >>> from affinity_bandits import AffinityBandit, simulate
    >>> from affinity_bandits.policies.state import counts
    >>> class OnceState(NamedTuple):
    ...     arms: np.ndarray
    ...     best: np.ndarray  # [0]: none until the first round is over
    >>> @dataclass(frozen=True)
    ... class BestOfTen(RoundPolicy):
    ...     name = "best-of-ten"
    ...     def start(self, arms, horizon):
    ...         return OnceState(np.arange(arms), counts(1, -1))
    ...     @staticmethod
    ...     def plan(state):
    ...         best = state.best[0]
    ...         if best < 0:
    ...             return Round(state.arms, 10)
    ...         return Round(state.arms[best : best + 1], FOREVER)
    ...     @staticmethod
    ...     def absorb(state, seen):
    ...         state.best[0] = 0
    ...         for arm in range(len(seen)):
    ...             if seen[arm] > seen[state.best[0]]:
    ...                 state.best[0] = arm
    >>> bandit = AffinityBandit([0.1, 0.9])
    >>> simulate(bandit, BestOfTen(), 50, 1, engine="python").pulls[0, 0, -1].tolist()
    [10, 40]

    Attributes:
        rule: how it drops arms ("groups"), in one or two sentences for laypeople.
    """

    rule: ClassVar[str] = ""

    @property
    def nodes(self) -> tuple[float, ...]:
        """Scores at which a round's feedback is counted, ascending; empty if sums are enough.

        Feedback between two nodes is split between them with its mean preserved.
        """
        return ()

    @property
    def warm_up_rounds(self) -> int:
        """The number of rounds at the beginning whose feedback is ignored."""
        return 0

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        """Explain a finished round; the default gives no reasons."""
        return RoundExplanation()

    def evidence(self, state: Any) -> Evidence | None:
        """Return the evidence against each arm after the last finished round; by default None."""
        return None

    def aimed_at(self, choices: int) -> Self:
        """Return the policy that is to decide by so many choices; by default the same."""
        return self

    @property
    def order_window(self) -> int | None:
        """The window of slots that may be answered out of order; None for any order.

        With a window of w, slot s may be handed out only once every slot up to s - w is answered.
        """
        return None

    def with_order_window(self, slots: int) -> Self:
        """Return the policy for that window; itself if any order will do."""
        return self

    @property
    def judging_body(self) -> str:
        """Who the judges in `meet` are: a "panel", or the whole "committee"."""
        return "panel"

    @property
    def judging(self) -> str:
        """Who judges and how that affects comparisons, in one or two sentences for laypeople."""
        return ""

    meet = staticmethod(meet_nobody)
    fewest_seats = staticmethod(anybody)

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
