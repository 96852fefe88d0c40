"""Noises: how scores vary around their mean, and what becomes of them when a weight lowers it.

Every class here is a frozen description that knows its range of scores, its subGaussian constant
and, as plain numbers and kernels, how a score is drawn, which the compiled loops and plain Python
share. One noise, one file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from affinity_bandits import checks, names
from affinity_bandits.errors import UnknownName
from affinity_bandits.noise.base import MECHANISMS, Noise
from affinity_bandits.noise.bernoulli import Bernoulli
from affinity_bandits.noise.beta import Beta
from affinity_bandits.noise.custom import CustomNoise
from affinity_bandits.noise.empirical import Empirical
from affinity_bandits.noise.gaussian import Gaussian
from affinity_bandits.noise.ordinal import Ordinal

Own = TypeVar("Own", bound=type[Noise])

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

NOISES: dict[str, type[Noise]] = {
    noise.name: noise for noise in (Bernoulli, Gaussian, Ordinal, Beta, Empirical, CustomNoise)
}
"""Every noise by its name."""


def register(noise: Own) -> Own:
    """Add a class of noises of one's own to `NOISES`; can be used as a decorator.

    Raises:
        InvalidInput: it is no class of noises, has no name, or has that of another.
    """
    found: Own = names.add_class("noise", noise, NOISES, Noise, "a class of noises")
    return found


def noise_from_json(
    data: Mapping[str, Any] | str,
    samplers: Mapping[str, Callable[[float, float], float]] | None = None,
    *,
    imports: bool = False,
) -> Noise:
    """Rebuild a noise from its name or from `Noise.to_json`.

    Args:
        data: the name, or a table with a "name" and settings.
        samplers: a user's own functions by label; `custom` descriptions name one of them,
            because code is never rebuilt from data.
        imports: whether a name may be "module:Class", which is then imported. Not for what others
            wrote.

    >>> noise_from_json("gaussian") == Gaussian(1.0)
    True
    """
    given = checks.table("noise", {"name": data} if isinstance(data, str) else data)
    name = given.pop("name")
    noise = names.named("noise", name, NOISES, register, imports)
    if name == CustomNoise.name:
        known = dict(samplers or {})
        label = given.get("label")
        if label not in known:
            raise UnknownName("noise label", label, known or ["(no functions were handed in)"])
        given = {"sampler": known[label], **given}
    checks.settings(f"parameter of noise {name}", noise, given)
    made: Noise = names.own("noise", "constructor", lambda: noise(**given))
    return made
