"""Policies of SMPyBandits."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity_bandits.adapters.peer import adapted, require_class, takes
from affinity_bandits.policies import InPython


def from_smpybandits(policy: type, *, label: str = "", **settings: Any) -> InPython:
    """Return a policy of SMPyBandits as one of this package's.

    SMPyBandits draws from the global generators of `random` and of numpy. They are seeded from the
    policy's own stream when a replicate begins, so a replicate is the same whatever ran before it.

    Args:
        policy: its class, such as `SMPyBandits.Policies.UCB`.
        label: how results call it; the class's name if left out.
        settings: what it takes besides the number of arms. A `horizon` is filled in.
    """
    require_class("SMPyBandits", policy, ("startGame", "choice", "getReward"))
    return adapted(Agent, policy, settings, label)


class Agent:
    """One of SMPyBandits' policies in a replicate."""

    def __init__(
        self,
        policy: type,
        settings: Mapping[str, Any],
        arms: int,
        horizon: int,
        rng: np.random.Generator,
    ) -> None:
        seed = int(rng.integers(2**32))
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - the one that SMPyBandits draws from
        given = dict(settings)
        if takes(policy, "horizon"):
            given.setdefault("horizon", horizon)
        made = policy(arms, **given)
        made.startGame()
        self.select = made.choice
        self.update = made.getReward
