"""Noises: how scores vary around their mean, and how a weight changes them.

Each class describes a range of scores, a subGaussian constant and, by numbers and kernels, how a
score is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affinity_bandits.base import registry
from affinity_bandits.model.noise.base import MECHANISMS, CustomNoise, Noise
from affinity_bandits.model.noise.continuous import Beta, Gaussian
from affinity_bandits.model.noise.discrete import Bernoulli, Empirical, Ordinal

__all__ = [
    "MECHANISMS",
    "NOISES",
    "Bernoulli",
    "Beta",
    "CustomNoise",
    "Empirical",
    "Gaussian",
    "Noise",
    "Ordinal",
    "noise_from_json",
    "register",
]


NOISES: registry.Registry[type[Noise]] = registry.Registry(
    "noise",
    Noise,
    "a class of noises",
    (Bernoulli, Gaussian, Ordinal, Beta, Empirical, CustomNoise),
)
"""Every noise by its name."""
register = NOISES.register


def noise_from_json(
    data: Mapping[str, Any] | str,
    samplers: Mapping[str, Callable[[float, float], float]] | None = None,
    *,
    imports: bool = False,
) -> Noise:
    """Rebuild a noise from its name or from `Noise.to_json`.

    Args:
        data: the name, or a table with a "name" and settings.
        samplers: the user's functions by label, for `custom` noises.
        imports: whether a name may be "module:Class", which is then imported. Only for trusted
            input.

    >>> noise_from_json("gaussian") == Gaussian(1.0)
    True
    """
    noise: Noise = NOISES.build(data, samplers, imports=imports)
    return noise
