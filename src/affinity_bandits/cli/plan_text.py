"""The answer of `affinity plan` as text of 80 columns, with `--explain` in detail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from affinity_bandits.base.words import plural
from affinity_bandits.cli.options import align_rows, say, wrap_text
from affinity_bandits.planning.sentences import (
    NOTHING_TO_SEE,
    cost_rows,
    difference_rows,
    otherwise_rows,
    tell_assumptions,
    tell_claim,
    tell_conditions,
    tell_judges,
    tell_obstacles,
    tell_situation,
    tell_verdict,
)

if TYPE_CHECKING:
    from affinity_bandits.planning import Plan


NOT_DECLARED = (
    "Not declared yet: what the groups are, who is responsible and why (--groups-are,"
    " --responsible, --purpose)."
)


def print_answer(
    plans: Sequence[Plan], today: date, *, for_a_year: bool, sources: Sequence[str] = ()
) -> None:
    """Print whether the budget is enough, the end of the comparison and its costs.

    Args:
        plans: one plan per way to judge, which is their only difference.
        today: the first day of the comparison.
        for_a_year: whether the budget is for a year because its end was left open.
        sources: what is and is not known from an audit.
    """
    say(wrap_text(tell_verdict(plans)), style="bold")
    say(wrap_text(tell_situation(plans[0].assumptions, for_a_year)))
    say(*map(wrap_text, [*sources, *tell_obstacles(plans)]))
    say("", align_rows(cost_rows(plans, today)), "")
    if tell_claim(plans):
        say(wrap_text(tell_claim(plans)))
    say(
        *(wrap_text(f"- {text}", "  ") for text in tell_conditions(plans)),
        wrap_text(_meaning(plans)),
    )
    if len(plans) > 1 and all(plan.assumptions.judges != "recused" for plan in plans):
        say(wrap_text(NOTHING_TO_SEE))
    rows = otherwise_rows(plans)
    if rows:
        say("")
        units = plural(plans[0].assumptions.unit).capitalize()
        say(f"{units} in 19 of 20 cases if it is otherwise", style="bold")
        say(align_rows(rows))
    declared = plans[0].declaration
    said = NOT_DECLARED if declared is None else declared.sentence
    say(wrap_text(f"{said} Is it right to try groups in turn? docs/responsible-use.md"))


def _meaning(plans: Sequence[Plan]) -> str:
    given = plans[0].assumptions
    return (
        "--explain lists all that is assumed. Costs are for a lead of"
        f" {given.smallest_difference:g}."
    )


def print_explanation(plan: Plan) -> None:
    """Print the assumptions and the differences that can be told apart."""
    sections = {
        f"What is assumed where {tell_judges([plan.assumptions.judges])}": [
            wrap_text(f"- {text}", "  ") for text in tell_assumptions(plan.assumptions)
        ],
        "Which differences can be told apart": [align_rows(difference_rows(plan))],
    }
    for title, texts in sections.items():
        say("")
        say(title, style="bold")
        say(*texts)
