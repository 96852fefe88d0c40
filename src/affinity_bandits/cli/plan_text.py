"""A plan in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affinity_bandits.planning import Plan
    from affinity_bandits.planning.outcomes import Outcome
    from affinity_bandits.planning.stress import Stress

MOST_ROUNDS = 10


def print_plan(plan: Plan) -> None:
    """Print the verdict, what the plan gives and costs, and its schedule."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_verdict(plan), style="bold")
    console.print()
    console.print(_summary(plan))
    console.print()
    console.print("What it costs, by how scores depend on a group's share", style="bold")
    console.print(_costs(plan))
    console.print()
    console.print("When groups are dropped, as long as all take part", style="bold")
    console.print(_rounds(plan))


def print_explanation(plan: Plan, lines: Sequence[Stress]) -> None:
    """Print what is assumed and what happens if it is wrong."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print()
    console.print("What is assumed", style="bold")
    for text in _assumed(plan):
        console.print(f"- {text}")
    console.print()
    console.print("What happens if an assumption is wrong", style="bold")
    console.print(_stress(plan, lines))
    console.print(
        "Each line is the worst of the hardest worlds, 200 runs each; (): 95% interval.",
        style="dim",
    )


def _verdict(plan: Plan) -> str:
    given = plan.assumptions
    question = (
        f"{given.groups} groups, differences of {given.smallest_difference:g} or more at equal "
        f"shares, {given.horizon:,} choices"
    )
    if plan.enough:
        return f"{question}: enough."
    if plan.sufficient is None:
        return f"{question}: too few. Not even 10^15 choices would always suffice."
    return (
        f"{question}: too few for the worst bias assumed. About {plan.sufficient:,} would suffice."
    )


def _summary(plan: Plan) -> Any:
    given, cost, wrong = plan.assumptions, plan.cost, plan.most_wrong
    detectable = "none" if plan.detectable is None else f"{plan.detectable:.2g}"
    table = _table("", "")
    table.show_header = False
    table.add_row("method", plan.policy.name)
    table.add_row(
        "chance of settling for a worse group",
        f"at most {_percent(plan.failure)}, proven for every bias that never lowers a score as a "
        f"share grows; at worst {wrong.wrong} of {wrong.replicates:,} runs here",
    )
    table.add_row(
        "choices spent comparing, at worst",
        f"{_count(cost.choices)} on average, {_count(cost.choices_95)} in 19 of 20 runs "
        f"({_percent(cost.choices_95 / given.horizon)} of all)",
    )
    table.add_row(
        "trials of one group, at worst",
        f"{_count(max(cost.per_group))} on average, {_count(max(cost.per_group_95))} in 19 of 20",
    )
    table.add_row("the worst is where", str(plan.worlds[plan.costliest]))
    table.add_row("smallest difference told apart there", f"{detectable} in 19 of 20 runs")
    if given.in_flight > 1:
        table.add_row("choices under way at once", f"up to {given.in_flight:,}")
    return table


def _costs(plan: Plan) -> Any:
    table = _table(
        "they grow",
        ">choices",
        ">19 of 20 runs",
        ">trials of one",
        ">no decision",
        ">wrong group",
    )
    rows: dict[str, list[Outcome]] = {}
    for example, one in zip(plan.examples, plan.outcomes, strict=True):
        rows.setdefault(example.bias, []).append(one)
    rows["the worst assumed"] = list(plan.hardest)
    for bias, some in rows.items():
        dearest = max(some, key=lambda one: one.choices)
        table.add_row(
            bias,
            _count(dearest.choices),
            _count(dearest.choices_95),
            _count(max(dearest.per_group_95)),
            _percent(max(one.undecided_rate for one in some)),
            _percent(max(one.wrong for one in some) / dearest.replicates),
        )
    return table


def _rounds(plan: Plan) -> Any:
    table = _table(
        ">trials of each group",
        ">choices in all",
        ">dropped if its mean score is lower by more than",
        ">score difference noticed in 19 of 20 runs",
    )
    rows = list(plan.rounds)
    if len(rows) > MOST_ROUNDS:  # the first and the last, and some in between
        step = (len(rows) - 1) / (MOST_ROUNDS - 1)
        rows = [rows[round(i * step)] for i in range(MOST_ROUNDS)]
    for row in rows:
        table.add_row(
            f"{row.trials:,}",
            f"{row.choices:,}",
            "nobody is dropped yet" if row.drops is None else f"{row.drops:.3g}",
            "" if row.detects is None else f"{row.detects:.3g}",
        )
    return table


def _assumed(plan: Plan) -> list[str]:
    given = plan.assumptions
    noise = (
        f"Scores lie between {given.lowest:g} and {given.highest:g}; the bias acts on what a score "
        f"has above {given.lowest:g}."
        if given.bounded
        else f"Scores scatter around their mean with a standard deviation of {given.sigma:g}."
    )
    steep = (
        f"Scores of a group never fall as its share of all past choices grows. For the verdict "
        f"and the costs, not for the chance of a wrong group: doubling a share multiplies them by "
        f"at most {2.0**given.steepness:.3g} (2 to the power {given.steepness:g})."
    )
    if given.lipschitz is not None:
        steep += (
            f" They change by at most {given.lipschitz:g} times the change of the share, as a "
            f"multiple of what they are at equal shares."
        )
    order = (
        "Each choice is scored before the next is made."
        if given.in_flight == 1
        else f"Up to {given.in_flight:,} choices are under way at once, scored in any order."
    )
    return [
        f"{given.groups} groups, of which one scores at least {given.smallest_difference:g} more "
        f"than every other once all have the same share; then no group scores more than "
        f"{given.largest_mean:g} on average. If the two best are closer than that, either may be "
        f"kept, and it may take longer.",
        f"At the start no group outnumbers another by more than {given.head_start:,} members.",
        steep,
        noise,
        order,
        "Whoever is chosen joins for good: nobody leaves, and what groups are worth stays as it "
        "is.",
        "Groups are things like sources, skill sets or suppliers, not protected attributes of "
        "people; giving every group its turn is a choice with consequences for those chosen.",
    ]


def _stress(plan: Plan, lines: Sequence[Stress]) -> Any:
    table = _table("if there is ...", ">by", ">wrong group", ">no decision", "worst where")
    for line in lines:
        rate, low, high = line.wrong
        table.add_row(
            line.assumption,
            f"{line.factor} times",
            f"{_percent(rate)} ({_percent(low)}-{_percent(high)})",
            _percent(line.undecided),
            line.world or "-",
        )
    return table


def _table(*columns: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.removeprefix(">"), justify="right" if right else "left")
    return table


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _percent(part: float) -> str:
    return f"{100.0 * part:.2g}%" if part < 0.995 else f"{100.0 * part:.0f}%"
