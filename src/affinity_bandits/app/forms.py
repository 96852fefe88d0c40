"""Parts of forms that several pages share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affinity_bandits.base.declaration import ASKS, EXAMPLES, Declaration, check_text
from affinity_bandits.base.errors import InvalidInput, shown

OPEN = "-"
"""Stands for answers that are still missing where protected attributes are checked."""


def find_unanswered(said: Mapping[str, str]) -> dict[str, InvalidInput]:
    """Return an error for each question of the declaration without an answer."""
    return {
        name: InvalidInput(name, f"answered, e.g. {EXAMPLES.get(name, 'no')!r}", None)
        for name in ASKS
        if not said.get(name, "").strip()
    }


def read_declaration(
    said: Mapping[str, str], check: Callable[[Declaration], None]
) -> tuple[Declaration | None, dict[str, InvalidInput]]:
    """Return the declaration of a form, or else an error for each question that has one.

    Protected attributes are refused before the other questions are answered.

    Args:
        said: the answers.
        check: raises `InvalidInput` for protected attributes that may not be used so.
    """
    wrong = find_unanswered(said)
    answers: dict[str, Any] = {name: said[name] for name in ASKS if name not in wrong}
    for name in [name for name in answers if name != "protected"]:
        try:
            check_text(name, answers[name])
        except InvalidInput as error:
            wrong[name] = error
    protected = answers.get("protected", "no")
    if protected not in ("yes", "no"):
        wrong["protected"] = InvalidInput("protected", "yes or no", protected)
    answers["protected"] = protected == "yes"
    stated = {name: one for name, one in answers.items() if name not in wrong}
    try:
        check(Declaration(**dict.fromkeys(EXAMPLES, OPEN) | stated))
    except InvalidInput as error:
        wrong[error.parameter] = error
    return (None if wrong else Declaration.from_json(answers)), wrong


def tell_mistakes(wrong: Mapping[str, InvalidInput]) -> dict[str, dict[str, Any]]:
    """Return what is wrong with each answer, in words, and whether it is only missing."""
    return {
        name: {"words": tell_mistake(error), "missing": error.value is None}
        for name, error in wrong.items()
    }


def tell_mistake(error: InvalidInput) -> str:
    """Return what is wrong with an answer, for the place beside its question."""
    got = "" if error.value in (None, OPEN) else f" {shown(error.value)} is not."
    return f"It must be {error.rule}.{got}"


def declaration_fields(
    said: Mapping[str, str], usual: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """Return the questions of a declaration with examples and answers, for declaration.html.

    Args:
        said: the answers so far.
        usual: what an empty answer stands for, by the name of the question.
    """
    return [
        {
            "name": name,
            "asks": asks.removesuffix(" yes or no"),
            "example": EXAMPLES.get(name, ""),
            "said": said.get(name, ""),
            "usual": (usual or {}).get(name, ""),
        }
        for name, asks in ASKS.items()
    ]
