"""The environment, one pull at a time: feedback whose mean is mu_A * f(share_A(t))."""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from .noises import TrueValues, true_values

CHUNK = 4096


def philox(seed: int, role: str, detail: object, replicate: int) -> np.random.Philox:
    """Return the bit generator of one role: keyed by a hash, counted by the replicate."""
    text = json.dumps([seed, role, detail], sort_keys=True, separators=(",", ":"))
    digest = hashlib.blake2b(
        text.encode("utf-8"), digest_size=16, person=b"affinity-bandits"
    ).digest()
    words = [int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")]
    return np.random.Philox(
        key=np.array(words, dtype=np.uint64),
        counter=np.array([0, 0, replicate, 0], dtype=np.uint64),
    )


def policy_rng(seed: int, policy_json: object, replicate: int) -> np.random.Generator:
    """Return the generator that a randomized policy draws from."""
    return np.random.Generator(philox(seed, "policy", policy_json, replicate))


def tape(seed: int, role: str, replicate: int) -> Iterator[int]:
    """Yield the raw 64-bit words of a role's stream, one per pull."""
    bits = philox(seed, role, None, replicate)
    while True:
        yield from bits.random_raw(CHUNK).tolist()


def uniform(word: int) -> float:
    """Return the uniform in [0, 1) made of the upper 53 bits."""
    return (word >> 11) * 2.0**-53


def normal(word: int) -> float:
    """Return the standard normal at the midpoint quantile of the upper 52 bits."""
    return float(ndtri(((word >> 12) + 0.5) * 2.0**-52))


def initial_members(initial_pulls: Sequence[int]) -> list[int]:
    """Return the arms of the initial members by rank (j + 1/2) / T0_i, ties by arm."""
    ranked = [((j + 0.5) / T0, i) for i, T0 in enumerate(initial_pulls) for j in range(T0)]
    return [i for _, i in sorted(ranked)]


class NaiveEnvironment:
    """Feedback with affinity bias, for one replicate.

    The share of the pulled arm is taken before the pull joins the committee. With ``memory`` M
    the committee is its last M members, otherwise everyone who ever joined it.
    """

    def __init__(
        self,
        means: Sequence[float],
        bias: Callable[[float], float],
        initial_pulls: Sequence[int],
        noise: dict[str, Any],
        mechanism: str,
        memory: int | None,
        seed: int,
        replicate: int,
        sampler: Callable[[float, float], float] | None = None,
        joining: dict[str, Any] | None = None,
        judges: dict[str, Any] | None = None,
        told: bool = False,
    ) -> None:
        if mechanism not in ("scaled", "shifted", "gated", "redrawn"):
            raise ValueError(f"no mechanism is called {mechanism!r}")
        self.means = [float(mu) for mu in means]
        self.bias = bias
        self.noise = noise["name"]
        self.sigma = noise.get("sigma", 0.0)
        self.values: TrueValues | None = None
        if self.noise not in ("bernoulli", "gaussian"):
            self.values = true_values(noise, self.means, sampler)
        self.mechanism = mechanism
        self.counts = [int(T0) for T0 in initial_pulls]
        self.total = sum(self.counts)
        self.committee: deque[int] | None = None
        if memory is not None:
            self.committee = deque(initial_members(self.counts), maxlen=memory)
        self.noise_words = tape(seed, "noise", replicate)
        self.gate_words = tape(seed, "gate", replicate)
        self.joining = joining or {"part": 1.0, "above": None, "when": "at once", "leaving": 0.0}
        self.judges = judges or {"who": "committee"}
        self.join_words = tape(seed, "join", replicate)
        self.leave_words = tape(seed, "leave", replicate)
        # A list of all members, and of those who judge, each by their arm.
        self.seated = joining is not None or judges is not None or told
        self.members = [arm for arm, T0 in enumerate(self.counts) for _ in range(T0)]
        self.judging: list[int] = []
        self.joined = True  # whether the last one pulled joined
        self.other_words = (
            tape(seed, "unchosen noise", replicate),
            tape(seed, "unchosen gate", replicate),
        )

    def open_round(self, fewest: int | None) -> list[int]:
        """Seat those who judge until the next round; return how many of each arm."""
        K = len(self.means)
        sitting = [self.members.count(arm) for arm in range(K)]
        seats = list(sitting)
        if self.judges["who"] == "recused":
            seats = [0] * K
        elif self.judges["who"] == "panel" and self.judges["seating"] == "as wanted":
            seats = [min(count, self.judges["seats"] // K) for count in sitting]
            if fewest is not None:
                seats[fewest] = min(seats)
        elif self.judges["who"] == "panel" and len(self.members) > self.judges["seats"]:
            part = self.judges["seats"]
            seats = [int(part * (count / len(self.members))) for count in sitting]
        self.judging = [arm for arm, count in enumerate(seats) for _ in range(count)]
        return seats

    def share(self, arm: int) -> float:
        """Return the arm's part of the committee as it stands before the next pull."""
        if self.committee is not None:
            return self.committee.count(arm) / len(self.committee)
        if self.seated:
            return self.judging.count(arm) / max(1, len(self.judging))
        return self.counts[arm] / self.total

    def change_members(self, arm: int, y: float) -> None:
        """Let somebody of the pulled arm join, or not, and any member leave, or not."""
        u, v = uniform(next(self.join_words)), uniform(next(self.leave_words))
        above, leaving = self.joining["above"], self.joining["leaving"]
        self.joined = u < self.joining["part"] and (above is None or y >= above)
        if self.joined:
            self.members.append(arm)
        if v < leaving and len(self.members) > 1:
            self.members.remove(sorted(self.members)[int(v / leaving * len(self.members))])
        if self.joining["when"] == "at once" and self.judges["who"] == "committee":
            self.judging = list(self.members)

    def join(self, arm: int) -> None:
        """Add the pulled arm to the committee."""
        self.counts[arm] += 1
        self.total += 1
        if self.committee is not None:
            self.committee.append(arm)

    def pull(self, arm: int) -> float:
        """Return Y_t for the pulled arm, then let the pull join the committee."""
        y = self.judged(arm)
        self.join(arm)
        if self.seated:
            self.change_members(arm, y)
        return y

    def judged(self, arm: int) -> float:
        """Return the score that an arm is given by those who judge now."""
        W = self.bias(self.share(arm))
        if self.values is None:
            return self.feedback(self.means[arm], W)
        return self.scored(self.values, arm, W)

    def everybody(self) -> list[float]:
        """Return what all arms score before the next pull, each with numbers of its own."""
        own = self.noise_words, self.gate_words
        self.noise_words, self.gate_words = self.other_words
        scores = [self.judged(arm) for arm in range(len(self.means))]
        self.noise_words, self.gate_words = own
        return scores

    def scored(self, values: TrueValues, arm: int, W: float) -> float:
        """Redrawn Y has the noise's own law at mu W; gated and scaled as above."""
        u = uniform(next(self.noise_words))
        if self.mechanism == "redrawn":
            return values(arm, self.means[arm] * W, u)
        X = values(arm, self.means[arm], u)
        if self.mechanism == "gated":
            return X if uniform(next(self.gate_words)) < W else 0.0
        return W * X

    def feedback(self, mu: float, W: float) -> float:
        """Scaled Y = W X; shifted Y = X + mu (W - 1); gated Y = B X with B ~ Bernoulli(W)."""
        word = next(self.noise_words)
        if self.noise == "bernoulli":
            u = uniform(word)
            if self.mechanism == "gated":
                return 1.0 if u < mu * W else 0.0
            X = 1.0 if u < mu else 0.0
        else:
            X = mu + self.sigma * normal(word)
            if self.mechanism == "gated":
                v = uniform(next(self.gate_words))
                return X if v < W else 0.0
        if self.mechanism == "scaled":
            return W * X
        return X + mu * (W - 1.0)
