"""The model of Section 2: true means, noise, feedback mechanism, bias, initial pulls, memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks
from affinity_bandits.base.displays import QUIET, one_line
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.bias import Bias, Constant, Custom, bias_from_json
from affinity_bandits.model.committee import Joining, Judges
from affinity_bandits.model.feedback import Feedback
from affinity_bandits.model.noise import Bernoulli, Gaussian, Noise, noise_from_json

MOST_ARMS = 100_000


@dataclass(frozen=True)
class AffinityBandit:
    """An affinity bandit (Section 2, Assumption 2.1).

    At pull t of arm i the policy sees feedback with mean mu_i * f(share_i), where share_i is the
    arm's part of the committee before the pull. Regret counts the true means only.

    Args:
        true_means: mu_i, hidden from policies. In [0, 1] unless the noise is Gaussian: 0 is the
            lowest possible score, 1 the highest (`Noise.mapped`).
        bias: the model f, or its name ("power" is `Power()`), its `to_json`, or a function of the
            share (see `Custom`); `Constant()` is the ordinary bandit.
        initial_pulls: T0_i >= 1, the initial members; default 1 each.
        noise: how scores vary, e.g. `Bernoulli()`, `Gaussian(sigma)` or `Ordinal(5)`, or its name,
            or its `to_json`.
        mechanism: how the bias enters. "scaled": Y = W X. "shifted": Y = X + mu (W - 1). "gated": Y
            = B X with B ~ Bernoulli(W). "redrawn": Y is drawn from the noise's own law with mean mu
            W. Default: gated for Bernoulli noise, Y ~ Bernoulli(mu W), and shifted for Gaussian
            noise, Y ~ N(mu W, sigma**2), as in the paper's experiments; for others the first of
            `Noise.mechanisms`.
        memory: None for the paper's ever-growing committee, or M: the committee is the last M
            members. The initial members leave first, spread evenly: the j-th of T0_i members of
            group i (from 0) leaves at rank (j + 1/2) / T0_i, ties by index. Initial members beyond
            M have left, in this order, before the first pull.
        joining: which of those chosen join the committee, `Joining(part=0.1)` for one in ten, or
            that part alone; default everybody.
        judges: who gives the scores, `Judges("panel", seats=6)` for instance, or a word; default
            the whole committee.

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
    joining: Joining = field(default_factory=Joining, metadata={QUIET: Joining()})
    judges: Judges = field(default_factory=Judges, metadata={QUIET: Judges()})

    if TYPE_CHECKING:
        # What is taken is wider than what is kept: names and tables become models.
        def __init__(
            self,
            true_means: Sequence[float],
            bias: Bias | str | Mapping[str, Any] | Callable[[float], float] = ...,
            initial_pulls: Sequence[int] | None = None,
            noise: Noise | str | Mapping[str, Any] = ...,
            mechanism: str | None = None,
            memory: int | None = None,
            joining: Joining | float | Mapping[str, Any] = ...,
            judges: Judges | str | Mapping[str, Any] = ...,
        ) -> None: ...

    __repr__ = one_line

    def __post_init__(self) -> None:
        noise = _noise(self.noise)
        bias = _bias(self.bias)
        means = checks.numbers_list("true_means", self.true_means, low=-1e9, high=1e9)
        if not 1 <= len(means) <= MOST_ARMS:
            raise InvalidInput("true_means", f"a list of 1 to {MOST_ARMS:,} means", len(means))
        noise.check_means(means)
        noise.check_own(means)
        bias.check_own()
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
        mechanism = noise.mechanisms[0] if self.mechanism is None else self.mechanism
        checks.choice("mechanism", mechanism, noise.mechanisms)
        if (mechanism == "gated" or noise.keeps_range) and bias.bounds[1] > 1.0:
            raise InvalidInput(
                "bias", f"at most 1 everywhere when the mechanism is {mechanism}", bias.bounds[1]
            )
        if self.memory is not None:
            object.__setattr__(
                self, "memory", checks.integer("memory", self.memory, low=1, high=10**8)
            )
        given = self.joining
        joining = given if isinstance(given, Joining) else Joining.from_json(given)
        who = self.judges
        judges = who if isinstance(who, Judges) else Judges.from_json(who)
        if judges.seats is not None and judges.seats < len(means):
            raise InvalidInput("judges.seats", f"one for each group ({len(means)})", judges.seats)
        if self.memory is not None and not (joining.everyone and judges == Judges()):
            rule = "left out where some do not join, or not all members judge"
            raise InvalidInput("memory", rule, self.memory)
        for name, value in (
            ("joining", joining),
            ("judges", judges),
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

        The suboptimality gaps of Equation (1).
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
        """The largest standard deviation of an arm's true values; nan unless they are Gaussian."""
        return self.noise.largest_sigma if isinstance(self.noise, Gaussian) else float("nan")

    @property
    def feedback(self) -> Feedback:
        """The bounds, tails and law of feedback at every pull, given the past.

        They hold for all weights from f(0) to f(1). The bounds are the best possible; so is sigma
        for Bernoulli, Gaussian and discrete noise (to a part in a thousand if values are gated).
        Otherwise sigma is a proven upper bound.

        >>> str(AffinityBandit([0.4, 0.6], noise="gaussian").feedback)
        'normal, sigma 1'
        """
        least, most = self.bias.bounds
        if self.arms == 1:
            least = most
        ends = self._ends(least, most)
        mechanism = str(self.mechanism)
        return Feedback(
            low=float(ends.min()),
            high=float(ends.max()),
            sigma=self.noise.subgaussian(self.true_means, mechanism, least, most),
            law=self.noise.law(mechanism, least, most),
        )

    @property
    def feedback_name(self) -> str:
        """The name of the feedback in messages: its mechanism and noise."""
        return f"{self.mechanism} {type(self.noise).__name__} feedback"

    def _ends(self, least: float, most: float) -> FloatArray:
        """Return the ends of each arm's feedback with weights from `least` to `most`."""
        means = np.array(self.true_means, dtype=np.float64)
        if self.mechanism == "redrawn":
            return np.ravel([self.noise.ends(means * weight) for weight in (least, most)])
        values = self.noise.ends(means)
        if self.mechanism == "shifted":
            ends = [values + means * (weight - 1.0) for weight in (least, most)]
        elif self.mechanism == "scaled":
            ends = [weight * values for weight in (least, most) if weight > 0.0]
            ends += [0.0 * means] * (least <= 0.0)
        else:
            ends = [values] * (most > 0.0) + [0.0 * means] * (least < 1.0)
        return np.concatenate([np.ravel(end) for end in ends])

    @property
    def _initial(self) -> tuple[int, ...]:
        pulls = self.initial_pulls
        assert pulls is not None  # set in __post_init__
        return tuple(pulls)

    def regret(self, pulls: npt.ArrayLike) -> FloatArray:
        """Return sum_i Delta_i T_i (Equation (1)) over the last axis of an array of pulls."""
        counted = np.asarray(pulls)
        if counted.ndim < 1 or counted.shape[-1] != self.arms:
            raise InvalidInput("pulls", f"an array whose last axis is the {self.arms} arms", pulls)
        return np.asarray(counted @ self.gaps, dtype=np.float64)

    def expected_feedback(self, arm: int, share: float) -> float:
        """Return E[Y] = mu_arm * f(share) (Equation (2))."""
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
            # Left out if they are the paper's.
            **({} if self.joining.everyone else {"joining": self.joining.to_json()}),
            **({} if self.judges == Judges() else {"judges": self.judges.to_json()}),
        }

    @property
    def counts_pulls(self) -> bool:
        """Whether a share is that of all pulls so far.

        As in Assumption 2.1.
        """
        return self.memory is None and self.joining.everyone and self.judges == Judges()

    @classmethod
    def from_json(
        cls,
        data: Mapping[str, Any],
        functions: Mapping[str, Callable[[float], float]] | None = None,
        samplers: Mapping[str, Callable[[float, float], float]] | None = None,
        *,
        imports: bool = False,
    ) -> AffinityBandit:
        """Rebuild a bandit from `to_json`.

        Args:
            data: the table from `to_json`.
            functions: a user's own functions of biases by label; see `bias_from_json`.
            samplers: a user's own samplers of noises by label; see `noise_from_json`.
            imports: whether names may be "module:Class"; see `bias_from_json`.
        """
        if not isinstance(data, Mapping):
            raise InvalidInput("bandit", "a table", data)
        given = dict(data)
        checks.settings("parameter of the bandit", cls, given)
        if "bias" in given:
            given["bias"] = bias_from_json(given["bias"], functions, imports=imports)
        if "noise" in given:
            given["noise"] = noise_from_json(given["noise"], samplers, imports=imports)
        return cls(**given)


def _bias(value: object) -> Bias:
    if isinstance(value, Bias):
        return value
    if isinstance(value, FunctionType):
        return Custom.measured(value)
    if not isinstance(value, str | Mapping):
        raise InvalidInput("bias", "a bias model such as Power(1.0), or its name", value)
    return bias_from_json(value, imports=True)


def _noise(value: object) -> Noise:
    if isinstance(value, Noise):
        return value
    if not isinstance(value, str | Mapping):
        raise InvalidInput("noise", "a noise such as Gaussian(0.5), or its name", value)
    return noise_from_json(value, imports=True)
