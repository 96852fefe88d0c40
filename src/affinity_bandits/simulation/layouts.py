"""The classes in which compiled code sees a policy's state: ours, one for each list of fields.

A compiled function is kept on disk under the types of its arguments, and a named tuple's type is
its class. With the class that a policy's author wrote there, what is kept could not be read any
more once that class is renamed or its module gone, not even by others who share the file; and a
class whose fields were put in another order would be given the machine code of the old order. A
class of ours is made from its name alone, so it can be read anywhere, and it is its fields.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import Any

PREFIX = "State"
_FIELD = re.compile(r"(\d+)_")


def laid_out(state: Any) -> Any:
    """Return a state with the same numbers and arrays in the class of its fields.

    >>> from affinity_bandits.policies import Uniform
    >>> type(laid_out(Uniform().start(2, 10))).__name__
    'State4_arms'
    """
    if not (isinstance(state, tuple) and hasattr(state, "_fields")):
        return state
    return layout(state._fields)(*(laid_out(value) for value in state))


def layout(fields: tuple[str, ...]) -> Any:
    """Return the class of a list of fields; there is one in a process."""
    name = PREFIX + "".join(f"{len(field)}_{field}" for field in fields)
    if name not in globals():
        made: Any = namedtuple(name, fields)  # type: ignore[misc]
        made.__module__ = __name__
        globals()[name] = made
    return globals()[name]


def __getattr__(name: str) -> Any:
    """Make a class from its name, which is how cached machine code refers to it."""
    fields: list[str] = []
    rest = name.removeprefix(PREFIX)
    while rest != name and (found := _FIELD.match(rest)):
        end = found.end() + int(found[1])
        fields.append(rest[found.end() : end])
        rest = rest[end:]
    if rest or not fields:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return layout(tuple(fields))
