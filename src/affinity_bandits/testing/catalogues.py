"""A class known by its name for as long as it is checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from affinity_bandits.names import place_of


@contextmanager
def known(model: object, catalogue: dict[str, Any]) -> Iterator[None]:
    """Let a bias or noise be made from its name, registered or not.

    Raises:
        AssertionError: it has no name, or that of another class.
    """
    cls = type(model)
    name = getattr(cls, "name", None)
    assert isinstance(name, str), f"{cls.__name__} has no name (a class variable)"
    before = catalogue.get(name)
    assert before is None or place_of(before) == place_of(cls), (
        f"{cls.__name__} is called {name!r}, as {before.__name__} is"
    )
    catalogue[name] = cls
    try:
        yield
    finally:
        if before is None:
            del catalogue[name]
        else:
            catalogue[name] = before
