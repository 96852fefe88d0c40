"""The model of Section 2: true means, noise, feedback mechanism, bias, initial pulls, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from affinity_bandits import extras

extras.need("simulation", "numpy")

import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.bias import Bias, Constant, bias_from_json
from affinity_bandits.displays import one_line
from affinity_bandits.errors import InvalidInput, NotSupported, UnknownName
from affinity_bandits.feedback import Feedback
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.subgaussian import bernoulli_proxy, gated_normal_proxy

MECHANISMS = ("scaled", "shifted", "gated")
"""The three transformations of Section 2, feature (iv), named (a), (b) and (c) there."""

MOST_ARMS = 100_000


@dataclass(frozen=True)
class Bernoulli:
    """True values are 0 or 1: X ~ Bernoulli(mu)."""

    name: ClassVar[str] = "bernoulli"

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""
        return {"name": self.name}

    def __str__(self) -> str:
        return "Bernoulli"


@dataclass(frozen=True)
class Gaussian:
    """True values are X ~ N(mu, sigma**2); the paper's theory assumes sigma <= 1."""

    name: ClassVar[str] = "gaussian"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.number("sigma", self.sigma, low=0.0))

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""
        return {"name": self.name, "sigma": self.sigma}

    def __str__(self) -> str:
        return f"Gaussian(sigma={self.sigma:g})"


Noise = Bernoulli | Gaussian
NOISES: dict[str, type[Bernoulli] | type[Gaussian]] = {"bernoulli": Bernoulli, "gaussian": Gaussian}


@dataclass(frozen=True)
class AffinityBandit:
    """An affinity bandit (Section 2, Assumption `assump:multBias`).

    At pull t of arm i the policy sees feedback with mean mu_i * f(share_i), where share_i is the
    arm's part of the committee before the pull. Regret counts the true means only.

    Args:
        true_means: mu_i, never observed. In [0, 1] with Bernoulli noise.
        bias: the model f, or its name ("power" is `Power()`), or its `to_json`; `Constant()` is
            the ordinary bandit.
        initial_pulls: T0_i >= 1, who already sits on the committee; one each if left out.
        noise: `Bernoulli()` or `Gaussian(sigma)`, or its name, or its `to_json`.
        mechanism: how the bias enters. "scaled": Y = W X. "shifted": Y = X + mu (W - 1).
            "gated": Y = B X with B ~ Bernoulli(W). Left out: gated for Bernoulli noise, which is
            Y ~ Bernoulli(mu W), and shifted for Gaussian noise, which is Y ~ N(mu W, sigma**2),
            the laws of the paper's experiments.
        memory: None for the paper's ever-growing committee, or M: only the last M members count.
            The initial members leave first, spread evenly: the j-th of T0_i members of group i
            (counted from 0) leaves at rank (j + 1/2) / T0_i, ties by index, so that what is left
            of the initial committee keeps its composition. If there are more than M initial
            members, those that would leave first have left before the first pull.

    >>> from affinity_bandits import Power
    >>> bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    >>> bandit.arms, bandit.best_arms
    (2, (1,))
    """

    true_means: Sequence[float]
    bias: Bias = field(default_factory=Constant)
    initial_pulls: Sequence[int] | None = None
    noise: Noise = field(default_factory=Bernoulli)
    mechanism: str | None = None
    memory: int | None = None

    if TYPE_CHECKING:
        # What is taken is wider than what is kept: names and tables become models.
        def __init__(
            self,
            true_means: Sequence[float],
            bias: Bias | str | Mapping[str, Any] = ...,
            initial_pulls: Sequence[int] | None = None,
            noise: Noise | str | Mapping[str, Any] = ...,
            mechanism: str | None = None,
            memory: int | None = None,
        ) -> None: ...

    __repr__ = one_line

    def __post_init__(self) -> None:
        noise = _noise(self.noise)
        bernoulli = isinstance(noise, Bernoulli)
        bias = _bias(self.bias)
        # A bound of 1e9 keeps sums over 10**15 pulls far from the edge of floating point.
        means = checks.numbers_list(
            "true_means",
            self.true_means,
            low=0.0 if bernoulli else -1e9,
            high=1.0 if bernoulli else 1e9,
        )
        if not 1 <= len(means) <= MOST_ARMS:
            raise InvalidInput("true_means", f"a list of 1 to {MOST_ARMS:,} means", len(means))
        pulls = (
            (1,) * len(means)
            if self.initial_pulls is None
            else checks.integers_list("initial_pulls", self.initial_pulls, low=1)
        )
        if len(pulls) != len(means):
            raise InvalidInput(
                "initial_pulls", f"as long as true_means ({len(means)})", f"{len(pulls)} entries"
            )
        checks.integer("sum of initial_pulls", sum(pulls), low=1)
        mechanism = (
            ("gated" if bernoulli else "shifted") if self.mechanism is None else self.mechanism
        )
        checks.choice("mechanism", mechanism, MECHANISMS)
        if mechanism == "gated" and bias.bounds[1] > 1.0:
            raise InvalidInput(
                "bias", "at most 1 everywhere when the mechanism is gated", bias.bounds[1]
            )
        if self.memory is not None:
            object.__setattr__(
                self, "memory", checks.integer("memory", self.memory, low=1, high=10**8)
            )
        for name, value in (
            ("true_means", means),
            ("bias", bias),
            ("initial_pulls", pulls),
            ("noise", noise),
            ("mechanism", mechanism),
        ):
            object.__setattr__(self, name, value)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return len(self.true_means)

    @property
    def gaps(self) -> FloatArray:
        """Delta_i = max_j mu_j - mu_i.

        The suboptimality gaps of `eq:regretDef`.
        """
        means = np.array(self.true_means, dtype=np.float64)
        gaps: FloatArray = means.max() - means
        return gaps

    @property
    def best_arms(self) -> tuple[int, ...]:
        """Every arm whose true mean is the largest."""
        return tuple(int(i) for i in np.flatnonzero(self.gaps == 0.0))

    @property
    def total_initial_pulls(self) -> int:
        """t0, the size of the initial committee."""
        return sum(self._initial)

    @property
    def sigma(self) -> float:
        """The standard deviation of the true values; nan for Bernoulli noise."""
        return self.noise.sigma if isinstance(self.noise, Gaussian) else float("nan")

    @property
    def feedback(self) -> Feedback:
        """What feedback is like at every pull, given the past: its bounds, tails and law.

        For all weights from f(0) to f(1), which the shares of a long run come as close to as you
        like; a bounded memory changes nothing. Whether a theorem's assumption on the noise
        (`assump:multBias`) holds is read off here. The bounds and, but for gated Gaussian values,
        where it is within a part in a thousand, sigma are the best there are.

        >>> str(AffinityBandit([0.4, 0.6], noise="gaussian").feedback)
        'normal, sigma 1'
        """
        least, most = self.bias.bounds
        if self.arms == 1:
            least = most
        ends = self._ends(least, most)
        return Feedback(
            low=float(ends.min()),
            high=float(ends.max()),
            sigma=self._subgaussian(least, most),
            law=self._law(least, most),
        )

    @property
    def feedback_name(self) -> str:
        """What the feedback is called in messages: its mechanism and noise."""
        return f"{self.mechanism} {type(self.noise).__name__} feedback"

    def _ends(self, least: float, most: float) -> FloatArray:
        """Return the ends of each arm's feedback with weights from `least` to `most`."""
        means = np.array(self.true_means, dtype=np.float64)
        if isinstance(self.noise, Bernoulli):
            values = np.array([means >= 1.0, means > 0.0], dtype=np.float64)
        else:
            spread = math.inf if self.sigma > 0.0 else 0.0
            values = np.array([means - spread, means + spread])
        if self.mechanism == "shifted":
            ends = [values + means * (weight - 1.0) for weight in (least, most)]
        elif self.mechanism == "scaled":
            ends = [weight * values for weight in (least, most) if weight > 0.0]
            ends += [0.0 * means] * (least <= 0.0)
        else:
            ends = [values] * (most > 0.0) + [0.0 * means] * (least < 1.0)
        return np.concatenate([np.ravel(end) for end in ends])

    def _subgaussian(self, least: float, most: float) -> float:
        """Return the subGaussian constant of feedback with weights from `least` to `most`."""
        means = np.array(self.true_means, dtype=np.float64)
        gated = self.mechanism == "gated"
        if isinstance(self.noise, Bernoulli):
            # Of all the coins that are thrown, the one that is nearest to a fair one.
            chances = np.clip(0.5, means * least, means * most) if gated else means
            fairest = float(chances[np.argmin(np.abs(chances - 0.5))])
            sigma = math.sqrt(bernoulli_proxy(fairest))
        elif gated:
            furthest = float(np.abs(means).max())
            return math.sqrt(gated_normal_proxy(furthest, self.sigma, least, most))
        else:
            sigma = self.sigma
        return most * sigma if self.mechanism == "scaled" else sigma

    def _law(self, least: float, most: float) -> str | None:
        untouched = least == most == 1.0
        if isinstance(self.noise, Bernoulli):
            return "bernoulli" if untouched or self.mechanism == "gated" else None
        scaled_evenly = self.mechanism == "scaled" and least == most
        return "normal" if untouched or scaled_evenly or self.mechanism == "shifted" else None

    @property
    def _initial(self) -> tuple[int, ...]:
        pulls = self.initial_pulls
        assert pulls is not None  # set in __post_init__
        return tuple(pulls)

    def regret(self, pulls: npt.ArrayLike) -> FloatArray:
        """Return sum_i Delta_i T_i (`eq:regretDef`) over the last axis of an array of pulls."""
        counted = np.asarray(pulls)
        if counted.ndim < 1 or counted.shape[-1] != self.arms:
            raise InvalidInput("pulls", f"an array whose last axis is the {self.arms} arms", pulls)
        return np.asarray(counted @ self.gaps, dtype=np.float64)

    def expected_feedback(self, arm: int, share: float) -> float:
        """Return E[Y] = mu_arm * f(share) (`eq:biasModel`)."""
        index = checks.integer("arm", arm, low=0, high=self.arms - 1)
        return self.true_means[index] * self.bias.weight(share)

    def leaving_order(self) -> IntArray:
        """Return the initial members' groups in the order in which they leave the committee."""
        if self.memory is None:
            raise NotSupported("nobody leaves a committee whose memory is not bounded")
        ranks, groups = [], []
        for arm, count in enumerate(self._initial):
            # Only the last `memory` initial members can still sit at the first pull, and they
            # are among the last `memory` of each group.
            first = max(0, count - self.memory)
            ranks.append((np.arange(first, count) + 0.5) / count)
            groups.append(np.full(count - first, arm, dtype=np.int64))
        order = np.argsort(np.concatenate(ranks), kind="stable")
        return np.concatenate(groups)[order][-self.memory :]

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data; `AffinityBandit.from_json` reads it back."""
        return {
            "true_means": list(self.true_means),
            "bias": self.bias.to_json(),
            "initial_pulls": list(self._initial),
            "noise": self.noise.to_json(),
            "mechanism": self.mechanism,
            "memory": self.memory,
        }

    @classmethod
    def from_json(
        cls,
        data: Mapping[str, Any],
        functions: Mapping[str, Callable[[float], float]] | None = None,
    ) -> AffinityBandit:
        """Rebuild a bandit from `to_json`; see `bias_from_json` for `functions`."""
        if not isinstance(data, Mapping):
            raise InvalidInput("bandit", "a table", data)
        given = dict(data)
        allowed = (item.name for item in fields(cls))
        checks.known_keys("parameter of the bandit", given, allowed)
        checks.required(cls, given)
        if "bias" in given:
            given["bias"] = bias_from_json(given["bias"], functions)
        return cls(**given)


def _bias(value: object) -> Bias:
    if isinstance(value, Bias):
        return value
    if not isinstance(value, str | Mapping):
        raise InvalidInput("bias", "a bias model such as Power(1.0), or its name", value)
    return bias_from_json(value)


def _noise(value: object) -> Noise:
    if isinstance(value, Bernoulli | Gaussian):
        return value
    given = checks.table("noise", {"name": value} if isinstance(value, str) else value)
    name = given.pop("name")
    if name not in NOISES:
        raise UnknownName("noise", name, NOISES)
    allowed = ("sigma",) if name == Gaussian.name else ()
    checks.known_keys(f"parameter of noise {name}", given, allowed)
    return NOISES[name](**given)
