"""Bias models: from an arm's share of past choices to the weight its feedback is multiplied with.

The paper's Assumption `assump:multBias` asks of f that it be bounded, nondecreasing and
L-Lipschitz on (0, 1]. Every class here is a frozen description that knows its Lipschitz constant
and turns into plain numbers (`code`, `parameters`) for the kernel `weight`, which the compiled
loops and plain Python share. One model, one file.

The value at share 0 matters only for committees with bounded memory, where a group can have no
member left; there f is continued to 0 by its own formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from affinity_bandits import checks, names
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.clipped import Clipped
from affinity_bandits.bias.constant import Constant
from affinity_bandits.bias.custom import Custom
from affinity_bandits.bias.in_group_bonus import InGroupBonus
from affinity_bandits.bias.piecewise_power import PiecewisePower
from affinity_bandits.bias.plateau import Plateau
from affinity_bandits.bias.power import Power
from affinity_bandits.bias.root import Root
from affinity_bandits.bias.sigmoid import Sigmoid
from affinity_bandits.bias.step import Step
from affinity_bandits.errors import UnknownName

Own = TypeVar("Own", bound=type[Bias])

__all__ = [
    "BIASES",
    "Bias",
    "Clipped",
    "Constant",
    "Custom",
    "InGroupBonus",
    "PiecewisePower",
    "Plateau",
    "Power",
    "Root",
    "Sigmoid",
    "Step",
    "bias_from_json",
    "register",
]

BIASES: dict[str, type[Bias]] = {
    model.name: model
    for model in (
        Constant,
        InGroupBonus,
        Power,
        Root,
        Sigmoid,
        Step,
        Clipped,
        PiecewisePower,
        Plateau,
        Custom,
    )
}
"""Every bias model by its name."""


def register(bias: Own) -> Own:
    """Add a class of bias models of one's own to `BIASES`; can be used as a decorator.

    Raises:
        InvalidInput: it is no class of bias models, has no name, or has that of another.
    """
    found: Own = names.add_class("bias", bias, BIASES, Bias, "a class of bias models")
    return found


def bias_from_json(
    data: Mapping[str, Any] | str,
    functions: Mapping[str, Callable[[float], float]] | None = None,
    *,
    imports: bool = False,
) -> Bias:
    """Rebuild a bias model from its name or from `Bias.to_json`.

    Args:
        data: the name, or a table with a "name" and settings.
        functions: a user's own functions by label; `custom` descriptions name one of them,
            because code is never rebuilt from data.
        imports: whether a name may be "module:Class", which is then imported. Not for what others
            wrote.

    >>> bias_from_json("power") == Power(1.0)
    True
    """
    given = checks.table("bias", {"name": data} if isinstance(data, str) else data)
    name = given.pop("name")
    model = names.named("bias", name, BIASES, register, imports)
    if name == Custom.name:
        known = dict(functions or {})
        label = given.get("label")
        if label not in known:
            raise UnknownName("bias label", label, known or ["(no functions were handed in)"])
        given = {"function": known[label], **given}
    if name == Clipped.name and "base" in given:
        given["base"] = bias_from_json(given["base"], functions, imports=imports)
    checks.settings(f"parameter of bias {name}", model, given)
    made: Bias = names.own("bias", "constructor", lambda: model(**given))
    return made
