"""Policies outside the simulator: one pull at a time, saved and resumed, or any Python object."""

from __future__ import annotations

import inspect
import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput, NotSupported, StateMismatch, shown
from affinity_bandits.base.registry import Registry
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.feedback import ANYTHING, SAME, UNIT_INTERVAL, Feedback
from affinity_bandits.model.streams import policy_generator, resume_stream, stream_to_json
from affinity_bandits.policies.contracts import (
    Policy,
    RoundPolicy,
    StepKernels,
    StepPolicy,
    add_score,
    check_size,
)
from affinity_bandits.policies.state import counts, read_saved, reals

plan: Function = unbound
absorb: Function = unbound
inner_candidate: Function = unbound
inner_meet: Function = unbound
inner_fewest_seats: Function = unbound


class AsStepsState(NamedTuple):
    """The round policy's state, and the position in its round."""

    inner: Any
    slot: IntArray  # [0]: pulls made in this round; 0: the next round has to be planned
    size: IntArray  # [0]: arms in this round
    repetitions: IntArray  # [0]
    arms: IntArray
    nodes: FloatArray
    seen: FloatArray  # of the arms of this round, in their order


@dataclass(frozen=True)
class AsSteps(StepPolicy):
    """A round policy played round-robin through its plan, as a step policy.

    Results use the name of the round policy.
    """

    name: ClassVar[str] = "as-steps"
    policy: RoundPolicy

    def __post_init__(self) -> None:
        if not isinstance(self.policy, RoundPolicy):
            raise InvalidInput("policy", "a round policy", self.policy)

    @property
    def version(self) -> int:  # type: ignore[override]
        """That of the round policy."""
        return self.policy.version

    @property
    def eliminates(self) -> bool:  # type: ignore[override]
        """That of the round policy."""
        return self.policy.eliminates

    @property
    def information(self) -> str:  # type: ignore[override]
        """That of the round policy."""
        return self.policy.information

    @property
    def in_python(self) -> bool:  # type: ignore[override]
        """That of the round policy."""
        return self.policy.in_python

    @property
    def judged_by(self) -> str:  # type: ignore[override]
        """Those for whom the round policy has a guarantee."""
        return self.policy.judged_by

    @property
    def assumes(self) -> Feedback:
        """That of the round policy."""
        return self.policy.assumes

    @property
    def told_judges(self) -> bool:
        """Whether the round policy is told who judges."""
        return self.policy.told_judges

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
        each = max(1, len(state.nodes))
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
    @kernel
    def opens(state: AsStepsState) -> bool:
        """Return whether a round begins with the next pull."""
        return bool(state.slot[0] == 0)

    @staticmethod
    @kernel
    def meet(state: AsStepsState, judges: IntArray) -> None:
        """Tell the round policy who judges its next round."""
        inner_meet(state.inner, judges)

    @staticmethod
    @kernel
    def fewest_seats(state: AsStepsState) -> int:
        """Return the arm that should have the fewest seats."""
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
    """Return any policy as a step policy."""
    if isinstance(policy, RoundPolicy):
        return AsSteps(policy)
    if isinstance(policy, StepPolicy):
        return policy
    raise InvalidInput("policy", "a step or a round policy such as UCB1()", policy)


FORMAT = 1
ANY = "any"
"""The scale of `Live` with which feedback is taken as it is."""


def read_scale(given: object) -> tuple[float, float] | str | None:
    """Return a scale of `Live`: its worst and its best score, "any" or None."""
    if given is None or (isinstance(given, str) and given == ANY):
        return given
    rule = "the worst and the best score, such as (1, 5), or 'any'"
    ends = checks.ordered("scale", given, rule)
    if len(ends) != 2:
        raise InvalidInput("scale", rule, given)
    worst, best = (checks.number("scale", end) for end in ends)
    if worst == best or not math.isfinite(best - worst):
        raise InvalidInput("scale", "two different scores, whose difference is finite", given)
    return worst, best


class Live:
    """One run of a policy outside the simulator, in plain Python.

    It makes the choices of the compiled loop on the same feedback and seed. Not thread-safe.

    Feedback must be what the policy assumes. Unless that is another interval, it must lie in
    [0, 1]; `scale` maps other scores.

    Args:
        policy: a step or a round policy.
        arms: the number of arms.
        horizon: the declared number of pulls.
        seed: of the policy's own random stream.
        replicate: the number of the run with that seed.
        scale: the worst and the best score that feedback can be, such as (1, 5), or (6, 1) for
            grades of which 1 is the best. They are mapped to 0 and 1 (to the ends of the interval
            that the policy assumes), so a policy's `sigma` is that of mapped scores. "any" takes
            every finite number as it is; then the policy's guarantee holds only if feedback is as
            it assumes, such as normal with its `sigma`.

    >>> from affinity_bandits.policies import UCB1
    >>> live = Live(UCB1(), arms=2, horizon=100)
    >>> live.ask()
    0
    >>> live.tell(0, 1.0)
    >>> live.ask()
    1
    >>> stars = Live(UCB1(), arms=2, horizon=100, scale=(1, 5))
    >>> stars.tell(stars.ask(), 4)
    """

    def __init__(
        self,
        policy: StepPolicy | RoundPolicy,
        arms: int,
        horizon: int,
        seed: int = 0,
        replicate: int = 0,
        *,
        scale: tuple[float, float] | str | None = None,
    ) -> None:
        check_size(arms, horizon)
        self.scale = read_scale(scale)
        self.policy = as_steps(policy)
        self.arms = int(arms)
        self.horizon = int(horizon)
        self.state = self.policy.start(self.arms, self.horizon)
        self._kernels = registry.own("policy", "kernels", self.policy.kernels)
        self._rng = policy_generator(seed, self.policy.to_json(), replicate)
        self._pending: int | None = None
        self._told_judges = self.policy.told_judges
        self._met = False

    @property
    def awaits_judges(self) -> bool:
        """Whether `meet` must be called before `ask`."""
        return self._told_judges and not self._met and self._kernels.opens(self.state)

    @property
    def fewest_seats(self) -> int | None:
        """The arm that should have the fewest judges in the next round, if one should."""
        arm = int(self._kernels.fewest_seats(self.state))
        return arm if arm >= 0 else None

    def meet(
        self, judges: Sequence[int], soon: Sequence[int] = (), later: Sequence[int] = ()
    ) -> None:
        """Tell how many of each arm judge the round that begins.

        Args:
            judges: those who judge when it begins.
            soon: at most how many who were chosen before may begin during the round.
            later: how many who were chosen will begin after it.
        """
        if not self.awaits_judges:
            raise InvalidInput(
                "judges", "told once, before each round of a policy that asks", judges
            )
        told: list[int] = []
        for name, given in {"judges": judges, "soon": soon, "later": later}.items():
            numbers = checks.integers_list(name, given, low=0)
            if len(numbers) not in (self.arms, 0 if told else self.arms):
                raise InvalidInput(name, f"a number for each of the {self.arms} arms", given)
            told += numbers or [0] * self.arms
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
        """Report the feedback of the arm that `ask` returned.

        Raises:
            InvalidInput: the arm is another one, or feedback is not what the policy assumes.
        """
        if self._pending is None:
            raise InvalidInput("arm", "asked for before its feedback is told", arm)
        told = checks.integer("arm", arm, low=0, high=self.arms - 1)
        if told != self._pending:
            raise InvalidInput("arm", f"the one that was asked for ({self._pending})", arm)
        value = self._mapped(checks.number("feedback", feedback))
        self._kernels.update(self.state, self._pending, value)
        self._pending = None
        if self._kernels.opens(self.state):
            self._met = False

    def _mapped(self, given: float) -> float:
        """Return feedback as the policy takes it, after checking that it is what it assumes."""
        if isinstance(self.scale, str):
            return given
        assumed = self.policy.assumes if self.policy.assumes.bounded else UNIT_INTERVAL
        low, high = assumed.low, assumed.high
        worst, best = self.scale or (low, high)
        part = (given - worst) / (best - worst)
        if not -SAME <= part <= 1.0 + SAME:  # so that a user's own rounding is no mistake
            rule = f"a number in [{min(worst, best):g}, {max(worst, best):g}]"
            if self.scale is None:
                as_it_is = "" if self.policy.assumes.bounded else ", 'any' to take it as it is"
                rule += (
                    f", unless Live is told another scale: scale=(1, 5) for scores from 1 to 5"
                    f"{as_it_is} ({self.policy} assumes {self.policy.assumes.in_words})"
                )
            raise InvalidInput("feedback", rule, given)
        value = given if self.scale is None else low + (high - low) * min(1.0, max(0.0, part))
        if assumed.law == "bernoulli" and value not in (0.0, 1.0):
            rule = f"{worst:g} or {best:g}, as {self.policy} assumes"
            raise InvalidInput("feedback", rule, given)
        return value

    def candidates(self) -> tuple[int, ...]:
        """Return the arms that the policy still holds may be the best."""
        return tuple(i for i in range(self.arms) if self._kernels.candidate(self.state, i))

    def to_json(self) -> str:
        """Return everything needed to resume in another process, to the bit."""
        data = {
            "format": FORMAT,
            **self.policy.save(self.state, self.arms, self.horizon),
            "scale": self.scale,
            "pending": self._pending,
            "met": self._met,
            "stream": stream_to_json(self._rng),
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, policy: StepPolicy | RoundPolicy, text: str) -> Live:
        """Resume from `to_json`; the policy must be the one that wrote it."""
        data = read_saved(text, FORMAT, ("scale", "pending", "met", "stream"))
        live = cls(policy, data["arms"], data["horizon"], scale=data["scale"])
        live.state = live.policy.load(data)
        pending = data["pending"]
        if pending is not None and pending not in range(live.arms):
            raise StateMismatch(f"the saved run is pending on arm {shown(pending)}, which is none")
        live._pending = pending
        live._met = bool(data["met"])
        resume_stream(live._rng, data["stream"])
        return live


HANDED = ("arms", "horizon", "rng")
"""Arguments that are passed to `InPython.make` if it has parameters of these names."""
RULE = "a class or function that makes objects with select() and update(arm, feedback)"


class Agent:
    """The state of an `InPython` policy: an object that is made at the first choice."""

    def __init__(self, make: Callable[[np.random.Generator], Any]) -> None:
        self.make = make
        self.choose: Callable[[], Any] | None = None
        self.update: Callable[[int, float], Any] | None = None
        self.candidates: Callable[[], Any] | None = None

    def begin(self, rng: np.random.Generator) -> Callable[[], Any]:
        """Make the object with its random stream; return its method that chooses."""
        made = self.make(rng)
        self.choose = _method(made, ("select", "choose"), 0)
        self.update = _method(made, ("update",), 2)
        self.candidates = getattr(made, "candidates", None)
        return self.choose


@dataclass(frozen=True)
class InPython(StepPolicy):
    """Any object that selects and updates, run in plain Python only.

    The object has `select()` or `choose()`, which returns an arm, and `update(arm, feedback)`. If
    it drops arms, its class has `eliminates = True` and `candidates()` returns the arms that are
    left. Every replicate begins with a new object.

    Args:
        make: a class or function that makes the object. It gets those of `arms`, `horizon` and
            `rng`, a numpy Generator with the policy's own stream, that it has as parameters.
        settings: its other arguments by name: numbers, flags and words.
        label: its name in results; by default that of the class.
        assumes: the feedback that it assumes; by default nothing is known.

    >>> import numpy as np
    >>> class Greedy:
    ...     def __init__(self, arms):
    ...         self.sums, self.pulls = np.zeros(arms), np.zeros(arms)
    ...     def select(self):
    ...         return np.argmin(self.pulls) if self.pulls.min() < 1 else np.argmax(self.sums)
    ...     def update(self, arm, feedback):
    ...         self.pulls[arm] += 1
    ...         self.sums[arm] += feedback
    >>> from affinity_bandits import AffinityBandit, simulate
    >>> simulate(AffinityBandit([0.4, 0.6]), InPython(Greedy), 100, replicates=2).runs[0].engine
    'python'
    """

    name: ClassVar[str] = "in-python"
    randomized: ClassVar[bool] = True
    in_python: ClassVar[bool] = True
    make: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    assumes: Feedback = ANYTHING

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise InvalidInput("make", f"{RULE}, as every replicate begins with one", self.make)
        if isinstance(self.make, type) and not makes_agents(self.make):
            raise InvalidInput("make", RULE, self.make)
        if not isinstance(self.settings, Mapping):
            raise InvalidInput("settings", "a table from names to values", self.settings)
        taken = _parameters(self.make)
        for name in self.settings:
            if name in ("name", *HANDED) or not isinstance(name, str):
                raise InvalidInput("settings", f"of other names than {', '.join(HANDED)}", name)
            if taken is not None and name not in taken:
                known = [word for word in taken if word not in HANDED]
                rule = f"of names that {_name(self.make)} takes ({', '.join(known) or 'none'})"
                raise InvalidInput("settings", rule, name)
        try:
            json.dumps(dict(self.settings), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidInput("settings", f"plain JSON ({error})", self.settings) from None
        if not isinstance(self.label, str):
            raise InvalidInput("label", "a word", self.label)
        if not isinstance(self.assumes, Feedback):
            rule = "a Feedback, such as Feedback(low=0, high=1)"
            raise InvalidInput("assumes", rule, self.assumes)

    def __hash__(self) -> int:
        return hash((json.dumps(self.to_json(), sort_keys=True), self.label))

    @property
    def eliminates(self) -> bool:  # type: ignore[override]
        """Whether the objects drop arms, as their class states."""
        return bool(getattr(self.make, "eliminates", False))

    def start(self, arms: int, horizon: int) -> Agent:
        check_size(arms, horizon)
        return Agent(partial(self._make_object, arms, horizon))

    def _make_object(self, arms: int, horizon: int, rng: np.random.Generator) -> Any:
        taken = _parameters(self.make)
        handed = {"arms": arms, "horizon": horizon, "rng": rng}
        named = {name: value for name, value in handed.items() if taken is None or name in taken}
        return self.make(**named, **self.settings)

    @staticmethod
    def select(state: Agent, rng: np.random.Generator) -> int:
        choose = state.choose or state.begin(rng)
        return operator.index(choose())

    @staticmethod
    def update(state: Agent, arm: int, feedback: float) -> None:
        assert state.update is not None  # set by `select`
        state.update(arm, feedback)

    @staticmethod
    def candidate(state: Agent, arm: int) -> bool:
        return state.candidates is None or arm in state.candidates()

    def to_json(self) -> dict[str, Any]:
        of_maker = self.make.to_json() if hasattr(self.make, "to_json") else {}
        return {"name": registry.place_of(self.make), **of_maker, **self.settings}

    @classmethod
    def examples(cls) -> list[Self]:
        return []

    def save(self, state: Any, arms: int, horizon: int) -> NoReturn:
        """Raise an error: the object's state is unknown.

        Raises:
            NotSupported: always.
        """
        raise NotSupported(f"policy {self} runs in plain Python: its state cannot be saved")

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return self.label or _name(self.make) + (f"({settings})" if settings else "")


class PolicyRegistry(Registry[type[Policy]]):
    """Policies by name, and classes that `InPython` can run by "module:Class"."""

    def add(self, found: Any) -> Any:
        if makes_agents(found) and not issubclass(found, Policy):
            self.unlisted[registry.place_of(found)] = found
            return found
        return self.register(found)


def makes_agents(found: object) -> bool:
    """Return whether `InPython` can run the objects of a class."""
    chooses = any(callable(getattr(found, name, None)) for name in ("select", "choose"))
    return isinstance(found, type) and chooses and callable(getattr(found, "update", None))


def _name(make: Callable[..., Any]) -> str:
    return getattr(make, "__name__", type(make).__name__)


def _parameters(make: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names of the parameters; None if it takes any, or they are unknown."""
    try:
        found = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_KEYWORD for one in found):
        return None
    return tuple(one.name for one in found)


def _method(made: Any, wanted: tuple[str, ...], arguments: int) -> Callable[..., Any]:
    for name in wanted:
        method: Callable[..., Any] | None = getattr(made, name, None)
        if callable(method):
            try:
                inspect.signature(method).bind(*range(arguments))
            except TypeError:
                rule = f"an object whose {name} takes {arguments or 'no'} arguments"
                raise InvalidInput("make", rule, made) from None
            except ValueError:  # functions in C have no signature
                pass
            return method
    raise InvalidInput("make", RULE, made)
