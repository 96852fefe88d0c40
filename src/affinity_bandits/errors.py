"""The exceptions that this package raises.

    AffinityError
    ├── CallerError           what was asked for cannot be had; whoever asked can mend it.
    │   ├── InvalidInput      a value breaks a rule; also a ValueError. Fix the value.
    │   │   └── UnknownName   a name is not in its catalogue; says which names are close.
    │   └── NotSupported      well formed, but cannot be done this way; says what can.
    ├── StateMismatch         a saved state does not belong to this policy or version.
    └── MissingExtra          a package that this needs is not installed; says how to install it.

None of them is worth retrying unchanged. Where a request is answered for somebody else, as the
service does, only a CallerError that the request itself caused is told to whoever sent it: what is
raised while stored data is read is nobody's mistake but the service's.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AffinityError(Exception):
    """The root of every exception this package raises on purpose."""


class CallerError(AffinityError):
    """A mistake of the caller: what was asked for breaks a rule or cannot be done."""


class InvalidInput(CallerError, ValueError):  # noqa: N818 - reads as the fact it states
    """A value breaks a rule.

    Attributes:
        parameter: the name of the argument, as the user wrote it.
        rule: what would have been accepted.
        value: what was received.
    """

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        self.parameter = parameter
        self.rule = rule
        self.value = value
        super().__init__(f"{parameter} must be {rule}, got {shown(value)}")


class UnknownName(InvalidInput):
    """A name that is in no catalogue, with the closest ones that are."""

    def __init__(self, parameter: str, value: object, known: Iterable[str]) -> None:
        names = sorted(known)
        close = difflib.get_close_matches(shown(value).strip("'").lower(), names, n=1, cutoff=0.5)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        listed = ", ".join(names[:25]) + (", ..." if len(names) > 25 else "")
        super().__init__(parameter, f"one of {listed}", value)
        self.args = (f"{self.args[0]}{hint}",)


class NotSupported(CallerError):  # noqa: N818 - reads as the fact it states
    """The request is well formed, but there is no way to do it as asked."""


class StateMismatch(AffinityError):  # noqa: N818 - reads as the fact it states
    """A saved state does not belong to the policy, size or version it was given to."""


class MissingExtra(AffinityError, ImportError):  # noqa: N818 - reads as the fact it states
    """A package that this part of the library needs is not installed.

    Args:
        package: what is missing.
        extra: the extra of `affinity-bandits-core` that has it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install {_with(extra)}")


def _with(extra: str) -> str:
    """Return the smallest thing to install that has an extra, by the name that users know."""
    if extra == "simulation":
        return "affinity-bandits"
    if extra in ("client", "service"):  # they run without the simulator
        return f"'affinity-bandits-core[{extra}]'"
    if extra == "otel":  # of the service
        return "'affinity-bandits-core[service,otel]'"
    return f"'affinity-bandits[{extra}]'"


def shown(value: object) -> str:
    """Return a value as a message shows it: on one line, cut where it would fill the screen."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # more digits, or more depth, than Python will print
        text = f"a value of type {type(value).__name__} that is too long to print"
    return text if len(text) <= 120 else f"{text[:117]}..."
