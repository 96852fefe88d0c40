"""Parts of forms that several pages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affinity_bandits.declaration import ASKS, EXAMPLES, Declaration
from affinity_bandits.errors import InvalidInput


def read_declaration(said: Mapping[str, str]) -> Declaration:
    """Return the declaration of a form.

    Raises:
        InvalidInput: an answer is missing or breaks a rule.
    """
    answers: dict[str, Any] = {name: said.get(name, "").strip() for name in ASKS}
    for name, text in answers.items():
        if not text:
            example = EXAMPLES.get(name, "no")
            raise InvalidInput(name, f"answered, e.g. {example!r}", None)
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
