"""The answer of `affinity plan`, in one screen of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from affinity_bandits.cli.formatting import WIDTH, aligned, wrapped
from affinity_bandits.displays import brief

if TYPE_CHECKING:
    from affinity_bandits.planning import Assumptions, Plan

WAYS = {
    "strangers": ("strangers only", "strangers"),
    "panel": ("panels, equal seats", "panels"),
    "committee": ("the whole committee", "committee"),
}
"""Who judges: in the first column of a table, and at the head of another."""
MOST_WEEKS = 520
"""Longer times are said in years."""
NOTHING_TO_SEE = (
    "Strangers only: nothing can be promised while nothing is known of the bias. If it"
    " can go so far that people without their own kind among the judges score nothing, there is"
    " nothing to see."
)


def print_answer(plans: Sequence[Plan], today: date, *, for_a_year: bool) -> None:
    """Print whether the choices are enough, when it will be over and what it costs.

    Args:
        plans: one for each way to judge that is shown; they differ in nothing else.
        today: when the comparison would begin.
        for_a_year: whether the budget is for a year because nobody said how long it lasts.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style=style))

    given = plans[0].assumptions
    say(wrapped(_verdict(plans)), "bold")
    say(wrapped(_situation(given, for_a_year)))
    say("")
    say(aligned(_costs(plans, today)))
    say("")
    say(wrapped(_meaning(plans)))
    if len(plans) > 1 and all(plan.assumptions.judges != "strangers" for plan in plans):
        say(wrapped(NOTHING_TO_SEE))
    rows = _otherwise(plans)
    if rows:
        say("")
        say("Choices in 19 of 20 cases if it is otherwise", "bold")
        say(aligned(rows))
    say(wrapped("Before you start: is it right to try groups in turn? docs/responsible-use.md"))


def _verdict(plans: Sequence[Plan]) -> str:
    given = plans[0].assumptions
    choices = f"{given.horizon:,} choices"
    enough = [_who(plan) for plan in plans if plan.enough]
    few = [_who(plan) for plan in plans if not plan.enough]
    if not few:
        return f"{choices} are enough{'' if len(plans) == 1 else ', whoever judges'}."
    if enough:
        few_words = f"too few if {_either(few)} judge{'s' if few == [_COMMITTEE] else ''}"
        return f"{choices} are enough if {_either(enough)} judge; {few_words}."
    if len(plans) > 1:
        return f"{choices} are too few, whoever judges."
    (plan,) = plans
    if plan.sufficient is None:
        return f"{choices} are too few. Not even 10^15 choices would always suffice."
    return f"{choices} are too few. About {plan.sufficient:,} would suffice."


_COMMITTEE = "the whole committee"


def _who(plan: Plan) -> str:
    judges = plan.assumptions.judges
    return _COMMITTEE if judges == "committee" else WAYS[judges][1]


def _either(words: Sequence[str]) -> str:
    return " or ".join(words)


def _situation(given: Assumptions, for_a_year: bool) -> str:
    """Return what was said, so that a misunderstanding is seen."""
    groups = f"{given.groups} groups"
    if given.names is not None and len(", ".join(given.names)) < WIDTH:
        groups += f" ({', '.join(given.names)})"
    if given.committee is not None:
        groups += f", {_listed([f'{one:,}' for one in given.committee])} on the committee"
    elif given.judges == "committee":
        groups += f", none ahead of another by more than {given.ahead:,} members"
    parts = [f"{groups}.", f"{_scores(given)}."]
    if given.bonus is None:
        parts.append(
            "Of the bias nothing is known; for the cost, doubling a share multiplies scores by"
            f" {2.0**given.steepest:.3g} at most."
        )
    elif given.bonus > 0.0:
        parts.append(f"Own kind rated up to {_percent(given.bonus)} higher{_instance(given)}.")
    if given.joining < 1.0:
        parts.append(f"{_rate(given.joining)} of those chosen joins.")
    if given.pace is not None:
        lasts = given.horizon / given.pace
        why = ", as no end was given" if for_a_year else ""
        pace = f"{given.pace:,.0f}" if given.pace >= 100.0 else f"{given.pace:.3g}"
        parts.append(f"{pace} choices a week for {_weeks(lasts)}{why}.")
    return " ".join(parts)


def _scores(given: Assumptions) -> str:
    matters = f"a difference of {given.smallest_difference:g} matters"
    if not given.bounded:
        return f"Scores with a standard deviation of {given.sigma:g}; {matters}"
    if given.spread is None:
        return f"Scores from {given.lowest:g} to {given.highest:g}, any spread; {matters}"
    ends = f"{given.lowest:g} to {given.highest:g}"
    return f"Scores from {ends} with a spread of {given.spread:.3g}; {matters}"


def _instance(given: Assumptions) -> str:
    """Return what a bonus does to a score in the middle of the scale."""
    if not given.bounded or given.lowest == 0.0:
        return ""
    middle = given.lowest + 0.5 * given.span
    assert given.bonus is not None
    raised = min(given.highest, middle + given.bonus * 0.5 * given.span)
    return f" (above {given.lowest:g}: {middle:.3g} becomes {raised:.3g})"


def _costs(plans: Sequence[Plan], today: date) -> list[list[str]]:
    """Return the rows of the main table."""
    paced = plans[0].assumptions.pace is not None
    dates = [["over", "after"], ["that is", "by"]] if paced else []
    head = [
        ["", "who judges"],
        ["choices,", "average"],
        ["in 19 of", "20 cases"],
        *dates,
        ["sees", "from"],
        ["", "enough?"],
    ]
    rows = [[column[line] for column in head] for line in (0, 1)]
    for plan in plans:
        needed, most = plan.needed, plan.enough_choices
        seen = "-" if plan.detectable is None else f"{plan.detectable:.2g}"
        cells = ["-", "-", *(["never", "-"] if paced else [])]
        if needed is not None and most is not None:
            cells = [_count(needed.choices), _count(most)]
            if plan.assumptions.pace is not None:
                weeks = most / plan.assumptions.pace
                cells += [_weeks(weeks), _day(today, weeks)]
        verdict = "yes" if plan.enough else "no"
        rows.append([WAYS[plan.assumptions.judges][0], *cells, seen, verdict])
    return rows


def _meaning(plans: Sequence[Plan]) -> str:
    given = plans[0].assumptions
    several = " in each case" if len(plans) > 1 else ""
    wrong = max((plan.most_wrong for plan in plans), key=lambda one: one.wrong / one.replicates)
    text = (
        f"Chance of settling for a worse group: at most {_percent(given.failure)}{several}, proven"
        " for every bias that never lowers a score as a share grows; at worst"
        f" {wrong.wrong} of {wrong.replicates:,} runs here. Costs are for the worst that was said:"
        f" if no group leads by more than {given.smallest_difference:g}."
    )
    if any(plan.assumptions.judges == "panel" for plan in plans):
        text += " Panels are named for each round, with as many seats for each group."
    return text


def _otherwise(plans: Sequence[Plan]) -> list[list[str]]:
    """Return the rows of the table of what it takes if the cost is not as assumed."""
    words = list(dict.fromkeys(one.words for plan in plans for one in plan.otherwise))
    if not words:
        return []
    needed = [plan.enough_choices for plan in plans]
    rows = [
        ["", *(WAYS[plan.assumptions.judges][1] for plan in plans)],
        [
            "as it was said",
            *("-" if most is None else _count(most) for most in needed),
        ],
    ]
    for line in words:
        cells = []
        for plan, most in zip(plans, needed, strict=True):
            found = [one for one in plan.otherwise if one.words == line]
            if not found:
                cells.append("the same")
            elif most is None:
                cells.append("-")
            else:
                over = "over " if found[0].more else ""
                cells.append(f"{over}{_count(_about(most * found[0].factor))}")
        rows.append([line, *cells])
    return rows


def _listed(words: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _rate(part: float) -> str:
    one_in = 1.0 / part
    if math.isclose(one_in, round(one_in), rel_tol=1e-6):
        return f"1 in {round(one_in):,}"
    return _percent(part)


def _weeks(weeks: float) -> str:
    number = math.ceil(weeks - 1e-6)
    if number > MOST_WEEKS:
        years = weeks / 52.18
        return f"{years:,.0f} years" if years < 1000.0 else "for ever"
    return "1 week" if number == 1 else f"{number:,} weeks"


def _day(today: date, weeks: float) -> str:
    try:
        return str(today + timedelta(days=math.ceil(7.0 * weeks)))
    except OverflowError:  # beyond the year 9999
        return "-"


def _about(value: float) -> float:
    """Return a number rounded to two digits."""
    return float(f"{value:.1e}")


def _count(value: float) -> str:
    return f"{value:,.0f}" if value < 1e7 else brief(value)


def _percent(part: float) -> str:
    return f"{100.0 * part:.3g}%"
