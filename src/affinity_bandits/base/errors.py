"""The exceptions that this package raises.

    AffinityError
    ├── CallerError           the request cannot be done; the caller can change it.
    │   ├── InvalidInput      a value breaks a rule; also a ValueError.
    │   │   └── UnknownName   a name is not in its catalogue; suggests a close one.
    │   └── NotSupported      well formed, but cannot be done this way; says what can.
    ├── StateMismatch         a saved state does not belong to this policy or version.
    └── MissingExtra          an optional package is not installed; names the extra to install.

Retrying helps only after a change. The service reports a CallerError to its client if the client's
own request caused it; one caused by stored data is a fault of the service.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any


class AffinityError(Exception):
    """The base class of this package's exceptions, which can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


class CallerError(AffinityError):
    """A mistake of the caller: the request breaks a rule or cannot be done."""


class InvalidInput(CallerError, ValueError):  # noqa: N818 - reads as the fact it states
    """A value breaks a rule.

    Attributes:
        parameter: the name of the argument, as the user wrote it.
        rule: the values that are accepted.
        value: the value that was given.
    """

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        self.parameter = parameter
        self.rule = rule
        self.value = value
        missing = value is None and rule.startswith("given")
        got = "" if missing else f", got {shown(value)}"
        super().__init__(f"{parameter} must be {rule}{got}")


MOST_LISTED = 12
"""Names of a catalogue up to which a message lists them all."""


def one_of(names: Sequence[str], given: str, columns: bool = False) -> str:
    """Return the rule of an answer that must be one of some names; of many, the three closest.

    >>> one_of(["judge", "score"], "scoer", columns=True)
    'one of the columns judge, score'
    >>> one_of([*(f"question {n}" for n in range(300)), "judge", "Score"], "scoer", columns=True)
    'one of 302 columns, of which the closest are Score, judge, question 9'
    """
    if len(names) <= MOST_LISTED:
        return f"one of {'the columns ' if columns else ''}{', '.join(names)}"
    folded = {name.casefold(): name for name in names}
    nearest = difflib.get_close_matches(given.casefold(), folded, n=3, cutoff=0.0)
    listed = ", ".join(folded[name] for name in nearest)
    kind = "columns" if columns else "names"
    return f"one of {len(names):,} {kind}, of which the closest are {listed}"


class UnknownName(InvalidInput):
    """A name outside a catalogue; the message suggests the closest one.

    Args:
        parameter: the name of the argument, as the user wrote it.
        value: the name that was given.
        known: the catalogue. If it is long, the message has the three closest names.
        command: what lists the catalogue, if anything does.
    """

    def __init__(
        self, parameter: str, value: object, known: Iterable[str], command: str = ""
    ) -> None:
        names = sorted(known)
        given = shown(value).strip("'").lower()
        close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
        rule = one_of(names, given)
        if len(names) > MOST_LISTED and command:
            rule += f" ({command} lists all)"
        super().__init__(parameter, rule, value)
        if close:
            self.args = (f"did you mean {close[0]!r}? {self.args[0]}",)


class NotSupported(CallerError):  # noqa: N818 - reads as the fact it states
    """The request is well formed, but cannot be done this way."""


class StateMismatch(AffinityError):  # noqa: N818 - reads as the fact it states
    """A saved state of another policy, size or version."""


class MissingExtra(AffinityError, ImportError):  # noqa: N818 - reads as the fact it states
    """An optional package is not installed.

    Args:
        package: the missing package.
        asked: what `pip install` is to be asked for in a checkout, such as `".[plot]"`.
    """

    def __init__(self, package: str, asked: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: pip install {asked} in a checkout of "
            "affinity-bandits"
        )


def _restored(cls: type[AffinityError], args: tuple[Any, ...], said: dict[str, Any]) -> Any:
    """Return an error of another process; its constructor may take other arguments."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(said)
    return error


def shown(value: object) -> str:
    """Return the text of a value for a message: one line of at most 120 characters."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # more digits, or more depth, than Python will print
        text = f"a value of type {type(value).__name__} that is too long to print"
    return text if len(text) <= 120 else f"{text[:117]}..."


def need(extra: str, *modules: str) -> None:
    """Raise unless every one of these modules is installed.

    Raises:
        MissingExtra: a module is missing; the message names the extra to install.
    """
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtra(module, f'".[{extra}]"')
