"""Parts of forms that several pages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affinity_bandits.declaration import ASKS, EXAMPLES, Declaration
from affinity_bandits.errors import InvalidInput


def find_unanswered(said: Mapping[str, str]) -> dict[str, InvalidInput]:
    """Return an error for each question of the declaration without an answer."""
    return {
        name: InvalidInput(name, f"answered, e.g. {EXAMPLES.get(name, 'no')!r}", None)
        for name in ASKS
        if not said.get(name, "").strip()
    }


def read_declaration(said: Mapping[str, str]) -> Declaration:
    """Return the declaration of a form.

    Raises:
        InvalidInput: an answer is missing or breaks a rule.
    """
    for error in find_unanswered(said).values():
        raise error
    answers: dict[str, Any] = {name: said[name].strip() for name in ASKS}
    if answers["protected"] not in ("yes", "no"):
        raise InvalidInput("protected", "yes or no", answers["protected"])
    return Declaration.from_json(answers | {"protected": answers["protected"] == "yes"})


def declaration_fields(said: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the questions of a declaration with examples and answers, for declaration.html."""
    return [
        {
            "name": name,
            "asks": asks.removesuffix(" yes or no"),
            "example": EXAMPLES.get(name, ""),
            "said": said.get(name, ""),
        }
        for name, asks in ASKS.items()
    ]
