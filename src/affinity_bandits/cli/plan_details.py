"""What stands behind the answer of `affinity plan`: `--explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from affinity_bandits.cli.formatting import aligned, wrapped
from affinity_bandits.displays import brief

if TYPE_CHECKING:
    from affinity_bandits.planning import Assumptions, Plan
    from affinity_bandits.planning.outcomes import Outcome
    from affinity_bandits.planning.stress import Stress

MOST_ROUNDS = 10
JUDGED = {
    "strangers": "strangers judge",
    "panel": "panels judge",
    "committee": "the whole committee judges",
}


def print_explanation(plan: Plan, lines: Sequence[Stress]) -> None:
    """Print what is assumed, what the plan costs and when it drops groups, and what if not."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)

    def say(title: str, *texts: str) -> None:
        console.print()
        console.print(Text(title, style="bold"))
        for text in texts:
            console.print(Text(text))

    say(
        f"What is assumed where {JUDGED[plan.assumptions.judges]}",
        *(wrapped(f"- {text}", "  ") for text in assumed(plan.assumptions)),
    )
    say("What it costs, by how scores depend on a group's share", aligned(_costs(plan)))
    say("When groups are dropped, as long as all take part", aligned(_rounds(plan)))
    note = wrapped("Each line is the worst of the hardest worlds, 200 runs each; (): 95% interval.")
    say("What happens if an assumption is wrong", aligned(_stress(lines)), note)


def _costs(plan: Plan) -> list[list[str]]:
    found = [
        ["", "", "in 19 of", "trials", "no", "wrong"],
        ["scores grow", "choices", "20 runs", "of one", "decision", "group"],
    ]
    rows: dict[str, list[Outcome]] = {}
    for example, one in zip(plan.examples, plan.outcomes, strict=True):
        rows.setdefault(example.bias, []).append(one)
    rows["the worst assumed"] = list(plan.hardest)
    for bias, some in rows.items():
        dearest = max(some, key=lambda one: one.choices)
        found.append(
            [
                bias,
                _count(dearest.choices),
                _count(dearest.choices_95),
                _count(max(dearest.per_group_95)),
                _percent(max(one.undecided_rate for one in some)),
                _percent(max(one.wrong for one in some) / dearest.replicates),
            ]
        )
    return found


def _rounds(plan: Plan) -> list[list[str]]:
    found = [
        ["trials of", "choices", "dropped if its mean", "noticed in"],
        ["each group", "in all", "is lower by more than", "19 of 20 runs"],
    ]
    rows = list(plan.rounds)
    if len(rows) > MOST_ROUNDS:  # the first and the last, and some in between
        step = (len(rows) - 1) / (MOST_ROUNDS - 1)
        rows = [rows[round(i * step)] for i in range(MOST_ROUNDS)]
    return found + [
        [
            f"{row.trials:,}".rjust(len("each group")),
            f"{row.choices:,}",
            "nobody is dropped yet" if row.drops is None else f"{row.drops:.3g}",
            "" if row.detects is None else f"{row.detects:.3g}",
        ]
        for row in rows
    ]


def assumed(given: Assumptions) -> list[str]:
    """Return what a plan takes for granted, in sentences."""
    noise = (
        f"Scores lie between {given.lowest:g} and {given.highest:g}; the bias acts on what a score "
        f"has above {given.lowest:g}."
        if given.bounded
        else f"Scores scatter around their mean with a standard deviation of {given.sigma:g}."
    )
    if given.spread is not None:
        noise += f" For the cost: their standard deviation within a group is {given.spread:.3g}."
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
        *_of_the_judges(given),
        _of_the_bias(given),
        noise,
        order,
        "What groups are worth stays as it is.",
        "Groups are things like sources, skill sets or suppliers, not protected attributes of "
        "people; giving every group its turn is a choice with consequences for those chosen.",
    ]


def _of_the_judges(given: Assumptions) -> list[str]:
    if given.judges == "strangers":
        return ["Nobody judges a candidate of their own group, without exception."]
    if given.judges == "panel":
        return [
            "Who judges is named before each round and stays until its end, with as many seats for "
            "each group."
        ]
    start = (
        f"At the start no group outnumbers another by more than {given.ahead:,} members."
        if given.committee is None
        else f"At the start there are {', '.join(map(str, given.committee))} members of the groups."
    )
    if given.joining == 1.0:
        return [start, "Whoever is chosen joins for good, at once, and nobody leaves."]
    return [
        start,
        f"{_percent(given.joining)} of those chosen join at once. Who is on the committee is told "
        "before each round, and nobody leaves within one.",
    ]


def _of_the_bias(given: Assumptions) -> str:
    text = (
        "Scores of a group never fall as its share of those who judge grows. For the verdict and "
        "the costs, not for the chance of a wrong group: "
    )
    if given.bonus is not None:
        text += (
            f"no share makes them higher than another by more than {_percent(given.bonus)}, and "
        )
    text += (
        f"doubling a share multiplies them by at most {2.0**given.steepest:.3g} "
        f"(2 to the power {given.steepest:.3g})."
    )
    if given.lipschitz is not None:
        text += (
            f" They change by at most {given.lipschitz:g} times the change of the share, as a "
            f"multiple of what they are at equal shares."
        )
    return text


def _stress(lines: Sequence[Stress]) -> list[list[str]]:
    found = [["if there is ...", "by", "wrong group", "no decision"]]
    for line in lines:
        rate, low, high = line.wrong
        found.append(
            [
                line.assumption,
                f"{line.factor} times",
                f"{_percent(rate)} ({_percent(low)}-{_percent(high)})",
                _percent(line.undecided),
            ]
        )
    return found


def _count(value: float) -> str:
    return f"{value:,.0f}" if value < 1e7 else brief(value)


def _percent(part: float) -> str:
    return f"{100.0 * part:.2g}%" if part < 0.995 else f"{100.0 * part:.0f}%"
