"""The answer of `affinity plan` as text of 80 columns, with `--explain` in detail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from affinity_bandits.base.words import plural
from affinity_bandits.cli.options import align_rows, say, wrap_text
from affinity_bandits.planning.rule import recommended
from affinity_bandits.planning.sentences import (
    DIFFER_NOTE,
    DIFFER_TITLE,
    NOTHING_TO_SEE,
    cost_rows,
    differ_rows,
    difference_rows,
    otherwise_rows,
    tell_assumptions,
    tell_claim,
    tell_conditions,
    tell_judges,
    tell_next,
    tell_obstacles,
    tell_recommendation,
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
    say(*map(wrap_text, [*sources, *tell_obstacles(plans), tell_recommendation(plans)]))
    say("", align_rows(cost_rows(plans, today)), "")
    if tell_claim(plans):
        say(wrap_text(tell_claim(plans)))
    say(
        *(wrap_text(f"- {text}", "  ") for text in tell_conditions(plans)),
        wrap_text(_meaning(plans)),
    )
    if len(plans) > 1 and plans[0].assumptions.bonus is None:
        say(wrap_text(NOTHING_TO_SEE))
    rows = otherwise_rows(plans)
    if rows:
        say("")
        units = plural(plans[0].assumptions.unit).capitalize()
        say(f"{units} in 19 of 20 cases if it is otherwise", style="bold")
        say(align_rows(rows))
    shown = plans[0] if len(plans) == 1 else recommended(plans)
    if shown is not None and tell_next(shown):
        say("", *map(wrap_text, tell_next(shown)), "")
    declared = plans[0].declaration
    said = NOT_DECLARED if declared is None else declared.sentence
    say(wrap_text(f"{said} Is it right to try groups in turn? docs/start/responsible-use.md"))


def _meaning(plans: Sequence[Plan]) -> str:
    given = plans[0].assumptions
    return (
        "--explain lists all that is assumed. Costs are for a lead of"
        f" {given.smallest_difference:g}."
    )


def print_explanation(plan: Plan, plans: Sequence[Plan]) -> None:
    """Print what a plan assumes and tells apart, and how often each way to judge goes wrong."""
    sections = {
        f"What is assumed where {tell_judges([plan.assumptions.judges])}": [
            wrap_text(f"- {text}", "  ") for text in tell_assumptions(plan.assumptions)
        ],
        "Which differences can be told apart": [align_rows(difference_rows(plan))],
    }
    rows = differ_rows(plans)
    if rows:
        sections[DIFFER_TITLE] = [align_rows(rows), wrap_text(DIFFER_NOTE)]
    for title, texts in sections.items():
        say("")
        say(title, style="bold")
        say(*texts)
