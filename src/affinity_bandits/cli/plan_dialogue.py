"""The questions of `affinity plan`, one by one, each answer checked before the next is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.planning.situation import Question, Situation

GREETING = "A plan for a fair comparison. Press Enter to take what stands in brackets."


def ask(told: Situation) -> None:
    """Ask until everything is known; an answer that is not understood is asked for again."""
    typer.echo(GREETING)
    for question in told.questions():
        _until_understood(told, question)


def _until_understood(told: Situation, question: Question) -> None:
    while True:
        said = typer.prompt(question.asks, default=question.usual, type=str)
        try:
            told.answer(question.name, said)
        except InvalidInput as error:
            typer.echo(f"  Not understood: it must be {error.rule}.")
        else:
            return
