"""The sentences and tables that tell a plan, for the command line and for pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, timedelta

from affinity_bandits.base.displays import format_brief, one_in
from affinity_bandits.base.words import counted, plural
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.rule import recommended, ways_by_rule
from affinity_bandits.planning.what_if import detectable_with

# Names of the ways to judge, for a row and for the head of a column.
WAYS = {
    "outsiders": ("outsiders alone", "outsiders"),
    "neutral": ("neutral blocks", "neutral"),
    "recused": ("recusal", "recusal"),
    "panel": ("panels, equal seats", "panels"),
    "committee": ("the whole committee", "committee"),
}
WHO = {
    "outsiders": "outsiders",
    "neutral": "third groups",
    "recused": "people from other groups",
    "panel": "panels",
    "committee": "the whole committee",
}
WEEKS_A_YEAR = 365.25 / 7.0
MOST_WEEKS = 520  # longer times are printed in years
NOTHING_TO_SEE = (
    "Recusal: nothing can be promised while nothing is known of the bias. Without their own"
    " group among the judges, people might score nothing."
)
TWO_RECUSED = (
    "Two groups: each is judged only by the other's people. Scores cannot tell stricter judges from"
    " worse candidates; no chance of a wrong group can be promised unless outsiders judge."
)
FIND = "People or models of no group (outsiders) would be better still: say if there are any."
WITHOUT_OUTSIDERS = (
    "Two groups without outsiders: no chance of a wrong group can be promised, because scores do"
    " not show which part of a difference comes from the judges. What to do: let people or models"
    " judge who belong to neither group; add a third group, whose people can judge these two; or"
    " say by how many points favors may differ at most, and rely on that answer: with panels, or in"
    " crossed blocks (docs/plan/crossed-blocks.md)."
)
WITHOUT_SCALE = (
    "Without outsiders no chance of a wrong group can be promised: neutral blocks need scores on a"
    " scale with two ends."
)
DIFFER_TITLE = "How often the wrong group is chosen if groups are equal, or judges differ"
DIFFER_NOTE = (
    "100 runs each, as long as the plan but at most 3,000 choices. Judges vary if each gives"
    " everybody some points of their own; one group gives more if all its judges do. Neither"
    " changes who is better."
)
MOST_NAMES = 80  # characters of the names of groups; longer lists are left out


def tell_verdict(plans: Sequence[Plan]) -> str:
    """Say whether the budget is enough, of plans that differ in who judges only."""
    units = plural(plans[0].assumptions.unit)
    enough = [plan for plan in plans if plan.enough]
    never = [plan for plan in plans if not plan.assumptions.identified]
    few = [plan for plan in plans if plan not in enough and plan not in never]
    found = [
        (enough, f"{plans[0].assumptions.horizon:,} {units} are enough"),
        (few, "too few" if enough else f"{plans[0].assumptions.horizon:,} {units} are too few"),
        (never, f"no number of {units} is enough"),
    ]
    parts = [words + _if_they_judge(some, plans) for some, words in found if some]
    text = "; ".join(parts)
    would = "" if enough or not few else f" {_would_suffice(few, len(plans) > 1)}"
    return f"{text[0].upper()}{text[1:]}.{would}{_tell_covered(plans)}"


def _if_they_judge(some: Sequence[Plan], plans: Sequence[Plan]) -> str:
    """Return the condition under which some of the plans are what is said of them."""
    if len(some) < len(plans):
        return f" if {tell_judges([plan.assumptions.judges for plan in some])}"
    return "" if len(plans) == 1 else ", whoever judges"


def _would_suffice(few: Sequence[Plan], several: bool) -> str:
    known = [(plan.enough_choices, plan) for plan in few if plan.enough_choices]
    if not known or (not several and few[0].sufficient is None):
        most = "1,000,000" if all(one.assumptions.judges == "neutral" for one in few) else "10^15"
        return f"Not even {most} would always suffice."
    if not several:
        return f"About {tell_count(known[0][0])} would suffice."
    fewest, plan = min(known, key=lambda pair: pair[0])
    judges = tell_judges([plan.assumptions.judges])
    return f"About {tell_count(fewest)} would suffice if {judges}."


def _tell_covered(plans: Sequence[Plan]) -> str:
    """Say for which biases a number of choices is enough, if not for all that were allowed."""
    found = [plan.assumptions.covered for plan in plans if plan.enough_choices]
    covered = [words for words in found if words]
    if not covered:
        return ""
    which = "The number" if len(plans) == 1 else "The committee's number"
    return f" {which} is for {covered[0]}, not for jumps."


def tell_judges(ways: Sequence[str]) -> str:
    """Say who judges."""
    if ways == ["committee"]:
        return "the whole committee judges"
    return " or ".join(WHO[way] for way in ways) + " judge"


def tell_saved(saved: Plan, plans: Sequence[Plan]) -> str:
    """Say which plan is saved, and why that one; nothing if there is only one, and it is enough."""
    if saved.enough and len(plans) == 1:
        return ""
    judges, units = tell_judges([saved.assumptions.judges]), plural(saved.assumptions.unit)
    if not saved.assumptions.identified:
        why = f"no number of {units} is enough, and nothing is promised"
    elif not saved.enough:
        why = f"{saved.assumptions.horizon:,} {units} are too few"
    else:
        others = [plan for plan in plans if plan.enough and plan is not saved]
        cheaper = [plan for plan in others if _most_choices(plan) < _most_choices(saved)]
        why = "the recommended way" if cheaper else "the cheapest way that is enough"
        why = why if others else "the only way that is enough"
    return f"The saved plan is the one where {judges}: {why}."


def _most_choices(plan: Plan) -> float:
    return plan.enough_choices or math.inf


def tell_situation(given: Assumptions, for_a_year: bool) -> str:
    """Return the answers, so that users notice a misunderstanding."""
    groups = f"{given.groups} groups"
    if given.names is not None and len(", ".join(given.names)) < MOST_NAMES:
        groups += f" ({', '.join(given.names)})"
    if given.committee is not None:
        *most, last = (f"{one:,}" for one in given.committee)
        groups += f", {', '.join(most)} and {last} on the committee"
    elif given.judges == "committee":
        groups += f", none ahead of another by more than {given.ahead:,} members"
    parts = [f"{groups}.", f"{_scores(given)}."]
    if given.bonus is None:
        parts.append(
            "Of the bias nothing is known; for the cost, doubling a share multiplies scores by"
            f" {2.0**given.steepest:.3g} at most."
        )
    elif given.bonus > 0.0:
        parts.append(f"Own group rated up to {_percent(given.bonus)} higher{_instance(given)}.")
    parts.append(_of_groups_judges(given))
    if given.joining < 1.0:
        parts.append(f"{one_in(given.joining)} of those chosen joins.")
    if given.begin_after:
        parts.append(f"They begin to judge {_units(given, given.begin_after)} later.")
    if given.pace is not None:
        why = ", as no end was given" if for_a_year else ""
        pace = f"{given.pace:,.0f}" if given.pace >= 100.0 else f"{given.pace:.3g}"
        lasts = _weeks(given.horizon / given.pace)
        parts.append(f"{_units(given, given.horizon)} in {lasts}, {pace} a week{why}.")
    return " ".join(parts)


def _of_groups_judges(given: Assumptions) -> str:
    """Return what was said of judges: favor, strictness, and whether there are outsiders."""
    favors = "the same favor"
    if given.favors_differ:
        favors = "favors that may differ"
    elif given.favor_gap:
        favors = f"favors that differ by up to {given.favor_gap:.3g}"
    strict = "may differ in strictness" if given.strictness_differs else "are equally strict"
    outsiders = {True: "There are outsiders.", False: "There are no outsiders.", None: ""}
    words = f"Judges of different groups {strict} and have {favors}. {outsiders[given.outsiders]}"
    return words.strip()


def _scores(given: Assumptions) -> str:
    matters = f"a difference of {given.smallest_difference:g} matters"
    if not given.bounded:
        return f"Scores with a standard deviation of {given.sigma:g}; {matters}"
    if given.spread is None:
        return f"Scores from {given.lowest:g} to {given.highest:g}, any spread; {matters}"
    ends = f"{given.lowest:g} to {given.highest:g}"
    return f"Scores from {ends} with a spread of {given.spread:.3g}; {matters}"


def _instance(given: Assumptions) -> str:
    """Return the effect of a bonus on a score in the middle of the scale."""
    if not given.bounded or given.lowest == 0.0:
        return ""
    middle = given.lowest + 0.5 * given.span
    assert given.bonus is not None
    raised = min(given.highest, middle + given.bonus * 0.5 * given.span)
    return f" (above {given.lowest:g}: {middle:.3g} becomes {raised:.3g})"


def cost_rows(plans: Sequence[Plan], today: date) -> list[list[str]]:
    """Return the table of costs by who judges; two rows are its head."""
    pace = plans[0].assumptions.pace
    dates = [] if pace is None else [["over", "after"], ["that is", "by"]]
    units = plural(plans[0].assumptions.unit).capitalize()
    head = [
        [f"{units}, by", "who judges"],
        ["on", "average"],
        ["in 19 of", "20 cases"],
        *dates,
        ["sees", "from"],
        ["", "enough?"],
    ]
    rows = [[column[line] for column in head] for line in (0, 1)]
    for plan in plans:
        most = plan.enough_choices
        if plan.needed is None or most is None:
            over = "never" if plan.assumptions.identified else "-"
            cells = ["-", "-"] if pace is None else ["-", "-", over, "-"]
        else:
            cells = [tell_count(plan.needed.choices), tell_count(most)]
            if pace is not None:
                cells += [_weeks(most / pace), format_day(today, most / pace)]
        seen = "-" if plan.detectable is None else f"{plan.detectable:.2g}"
        verdict = "yes" if plan.enough else "no"
        rows.append([WAYS[plan.assumptions.judges][0], *cells, seen, verdict])
    return rows


def tell_obstacles(plans: Sequence[Plan]) -> list[str]:
    """Say why no number of choices is enough for some of the plans, a sentence or two for each."""
    return [_obstacle(plan.assumptions) for plan in plans if not plan.assumptions.identified]


def _obstacle(given: Assumptions) -> str:
    way = WAYS[given.judges][0].capitalize()
    if given.judges == "recused" and given.groups == 2:
        return TWO_RECUSED
    if given.judges == "recused":
        return (
            f"{way}: each group is scored by other people. If these may differ in strictness, a"
            " stricter set of judges looks like a worse group."
        )
    if given.favors_differ:
        return (
            f"{way}: favors may differ between groups, and nobody knows by how much. A group that"
            " is favored more may win although it is worse."
        )
    if given.smallest_difference <= given.hidden_gap:
        return (
            f"{way}: favors that differ by {given.favor_gap:.3g} can hide a difference of"
            f" {given.hidden_gap:.2g} points, and {given.smallest_difference:g} is not more."
        )
    return (
        f"{way}: nothing is proven if one group's judges may be stricter, because who is on the"
        " committee changes while it grows."
    )


def tell_recommendation(plans: Sequence[Plan]) -> str:
    """Say who should judge by the rule, and why; without a way that keeps a promise, what to do."""
    given = plans[0].assumptions
    ways = ways_by_rule(given)
    if not ways:
        return WITHOUT_OUTSIDERS if given.groups == 2 else WITHOUT_SCALE
    if ways[0] == ("outsiders",):
        return (
            "Recommended: outsiders alone. They favor no group, and one panel of them is equally"
            " strict with all."
        )
    if ways[0] == ("neutral",):
        return (
            "Recommended: neutral blocks. One person of a third group scores a candidate of each of"
            " the others, so neither favor nor strictness can help one."
            + ("" if given.outsiders is False else f" {FIND}")
        )
    best = recommended(plans)
    which = "the cheapest way that is enough"
    if best is not None:
        which = WAYS[best.assumptions.judges][0]
    if given.alike:
        return (
            f"Recommended: {which}, because you said that all groups' judges have the same favor"
            " and are equally strict. If you doubt it, say so ('no idea')."
        )
    return (
        f"Recommended: {which}, as far as the difference in favor that you stated goes. Only"
        " outsiders would make that answer unnecessary."
    )


def tell_next(plan: Plan) -> list[str]:
    """Say how to run a plan whose judges have to be organized."""
    if plan.assumptions.judges == "outsiders":
        return [
            "How to run it: a campaign, or `Live`, with a panel on which no group has a seat. Draw"
            " by lot which outsider scores whom. Or let each of them score a candidate of every"
            " group, in blocks (NeutralElimination(outsiders=True)); then no lots are needed."
        ]
    if plan.assumptions.judges != "neutral":
        return []
    given, policy = plan.assumptions, plan.policy
    told = ", ".join(
        f"{item.name}={getattr(policy, item.name):g}"
        for item in fields(policy)
        if getattr(policy, item.name) != item.default
    )
    return [
        "How to run it: for each block draw the candidates by lot, let one person of the stated"
        " group score all of them, and tell all scores at once. A block that is not finished counts"
        " nothing, and is never withdrawn because of its scores.",
        "A campaign made from the plan file hands out the blocks. By hand, with policy ="
        f" NeutralElimination({told}) in Python, Blocks(policy, groups={given.groups},"
        f" scale=({given.lowest:g}, {given.highest:g})) says people of which group judge next,"
        " whom, and in which order (docs/plan/neutral-blocks.md).",
    ]


def differ_rows(plans: Sequence[Plan]) -> list[list[str]]:
    """Return the rows of the table of wrong choices if judges differ; the first is its head."""
    shown = [plan for plan in plans if plan.if_judges_differ]
    if not shown:
        return []
    rows = [["", *(WAYS[plan.assumptions.judges][1] for plan in shown)]]
    for place, one in enumerate(shown[0].if_judges_differ):
        found = [plan.if_judges_differ[place] for plan in shown]
        rows.append([one.words, *(f"{100.0 * row.wrong / row.runs:.0f}%" for row in found)])
    return rows


def tell_claim(plans: Sequence[Plan]) -> str:
    """Say how sure the answer is; `tell_conditions` ends the sentence.

    Plans that promise nothing are left out; if all are, nothing is claimed.
    """
    sure = [plan for plan in plans if plan.failure is not None]
    if not sure:
        return ""
    several = " in each case" if len(sure) > 1 else ""
    if len(sure) < len(plans):
        several = f" if {tell_judges([plan.assumptions.judges for plan in sure])}"
    wrong = max((plan.most_wrong for plan in sure), key=lambda one: one.wrong / one.replicates)
    return (
        "Chance of choosing the wrong group: at most"
        f" {_percent(sure[0].assumptions.failure)}{several}; at worst {wrong.wrong} of"
        f" {wrong.replicates:,} runs here. This is proven, whatever the bias looks like, if"
    )


def tell_conditions(plans: Sequence[Plan]) -> list[str]:
    """Return the assumptions of the proof, one sentence each; none if nothing is claimed."""
    sure = [plan.assumptions for plan in plans if plan.failure is not None]
    if not sure:
        return []
    judged = [
        _who_judges(given) + (f" ({WAYS[given.judges][1]})" if len(plans) > 1 else "")
        for given in sure
    ]
    *most, last = judged
    found = [f"{', '.join(most)}{' or ' if most else ''}{last};"]
    favored = [given for given in sure if given.own_may_judge]
    recused = [given for given in sure if given.judges == "recused"]
    third = [given for given in sure if given.judges in ("outsiders", "neutral")]
    mixed = bool(favored) and len(favored) < len(sure)
    if recused:
        mixed_recused = len(recused) < len(sure)
        by = f"{0.05 * sure[0].span:.3g}"
        found.append(
            f"the judges of each group's candidates{' (recusal)' if mixed_recused else ''} are"
            f" equally strict on average: if those who judge one group are stricter by {by} points,"
            f" that group may lose although it is better by {by};"
        )
    if favored:
        who = ", ".join(WAYS[given.judges][1] for given in favored)
        found.append(_same_bias(favored, f" ({who})" if mixed else ""))
    if third:
        who = f" ({', '.join(WAYS[given.judges][1] for given in third)})"
        found.append(
            f"judges{who if len(third) < len(sure) else ''} like no other group more than another,"
            " as far as it is not better;"
        )
    if any(given.judges == "neutral" for given in sure):
        found.append("candidates and their order in a block are drawn by lot;")
    if any(given.own_may_judge or given.judges == "outsiders" for given in sure):
        found.append("who of the judges scores which candidate is decided by lot, not by group;")
    if favored or recused:
        found.append("the bias makes no score negative, and never lowers a score as a share grows.")
    else:
        found.append("no score is left out because of what it is.")
    return found


def _same_bias(ways: Sequence[Assumptions], who: str) -> str:
    """Return the condition on the bias where panels or the committee judge, with its limits."""
    given = ways[0]
    if given.favor_gap:
        hidden = " or ".join(f"{way.hidden_gap:.2g} ({WAYS[way.judges][1]})" for way in ways)
        return (
            f"no group's judges favor their own by more than {given.favor_gap:.3g} points more than"
            " another's do theirs, and all groups have the same bias otherwise: a group may win"
            f" although it is worse by up to {hidden};"
        )
    more = 0.085 * given.span
    about = "about " if [way.judges for way in ways] == ["committee"] else ""
    return (
        f"all groups have the same bias{who}: if one group's judges favor their own by x points"
        f" more than another's do theirs, it may win although it is worse by {about}x/K (with"
        f" {given.groups} groups and x = {more:.2g}, by {more / given.groups:.2g});"
    )


def _who_judges(given: Assumptions) -> str:
    if given.judges == "outsiders":
        return "only people judge who belong to no group"
    if given.judges == "neutral":
        return "one person of a third group scores a candidate of each of the others"
    if given.judges == "recused":
        return "nobody judges their own group"
    if given.judges == "panel":
        return "panels have as many seats for each group"
    if given.at_once:
        return "everybody chosen joins the committee at once, and nobody leaves"
    return "you say before each round who is on the committee, which then stays for the round"


def otherwise_rows(plans: Sequence[Plan]) -> list[list[str]]:
    """Return the rows of the table of costs if the spread or the bias is not as assumed."""
    words = list(dict.fromkeys(one.words for plan in plans for one in plan.otherwise))
    if not words:
        return []
    needed = [plan.enough_choices for plan in plans]
    rows = [
        ["", *(WAYS[plan.assumptions.judges][1] for plan in plans)],
        ["as it was said", *("-" if most is None else tell_count(most) for most in needed)],
    ]
    for line in words:
        row = [line]
        for plan, most in zip(plans, needed, strict=True):
            found = [one for one in plan.otherwise if one.words == line]
            if most is None:
                row.append("-")
            elif not found:
                row.append("the same")
            else:
                choices = float(f"{most * found[0].factor:.1e}")
                row.append(f"{'over ' if found[0].more else ''}{tell_count(choices)}")
        rows.append(row)
    return rows


def _units(given: Assumptions, number: int) -> str:
    return counted(number, given.unit)


def _weeks(weeks: float) -> str:
    number, years = math.ceil(weeks - 1e-6), weeks / WEEKS_A_YEAR
    if number > MOST_WEEKS or abs(years - max(1, round(years))) < 0.002:
        return "1 year" if years < 1.5 else f"{years:,.0f} years" if years < 1e3 else "for ever"
    return "1 week" if number == 1 else f"{number:,} weeks"


def format_day(today: date, weeks: float) -> str:
    """Return the day that is some weeks from today."""
    try:
        return str(today + timedelta(days=math.ceil(7.0 * weeks)))
    except OverflowError:  # beyond the year 9999
        return "-"


def _percent(part: float) -> str:
    return f"{100.0 * part:.3g}%"


def difference_rows(plan: Plan) -> list[list[str]]:
    """Return the differences that numbers of choices can tell apart; one row is its head."""
    rows = [[plural(plan.assumptions.unit).capitalize(), "noticed in 19 of 20 runs"]]
    for choices in sorted({one.horizon for one in plan.reach}):
        seen = detectable_with(plan, choices)
        rows.append([f"{choices:,}", "nothing yet" if seen is None else f"{seen:.3g} or more"])
    return rows


def tell_assumptions(given: Assumptions) -> list[str]:
    """Return the assumptions of a plan, in sentences."""
    noise = (
        f"Scores lie between {given.lowest:g} and {given.highest:g}"
        + (
            f"; the bias acts on what a score has above {given.lowest:g}."
            if given.judges not in ("outsiders", "neutral")
            else "."
        )
        if given.bounded
        else f"Scores scatter around their mean with a standard deviation of {given.sigma:g}."
    )
    if given.spread is not None:
        noise += f" For the cost: their standard deviation within a group is {given.spread:.3g}."
    order = (
        f"Each {given.unit} is scored before the next is made."
        if given.in_flight == 1
        else f"Up to {_units(given, given.in_flight)} are under way at once, scored in any order."
    )
    return [
        f"{given.groups} groups, of which one scores at least {given.smallest_difference:g} more "
        f"than every other once all have the same share; then no group scores more than "
        f"{given.largest_mean:g} on average. If the two best are closer than that, either may be "
        f"kept, and it may take longer.",
        *_of_the_judges(given),
        *([_of_the_bias(given)] if given.judges not in ("outsiders", "neutral") else []),
        noise,
        *([order] if given.judges != "neutral" else []),
        *_of_differences(given),
        *([_STAYS] if given.judges not in ("outsiders", "neutral") else [_STAYS_NEUTRAL]),
        "Groups are things like sources, skill sets or suppliers, not protected attributes of "
        "people; giving every group its turn is a choice with consequences for those chosen.",
    ]


_STAYS = (
    "What groups are worth stays as it is. The bias may change between rounds, but not while a "
    "round is open."
)
_STAYS_NEUTRAL = "What groups are worth stays as it is."


def _of_differences(given: Assumptions) -> list[str]:
    """Return how far the judges of different groups may differ."""
    if given.judges in ("outsiders", "neutral"):
        return [
            "Those who judge like none of the groups that they score more than another, as far as"
            " it is not better. How strict they are, how much of the scale they use and how much"
            " groups favor their own does not matter."
        ]
    if given.judges == "recused":
        return [
            "The judges of each group's candidates are equally strict on average. Each group has "
            "other judges, so scores cannot show whether that is so."
        ]
    lots = "Who of the judges scores which candidate is decided by lot, not by group."
    if not given.favor_gap:
        return ["All groups have the same bias: the same share raises anybody's score alike.", lots]
    return [
        f"No group's judges favor their own by more than {given.favor_gap:.3g} points more than "
        "another's do theirs; all groups have the same bias otherwise.",
        lots,
    ]


def _of_the_judges(given: Assumptions) -> list[str]:
    if given.judges == "outsiders":
        return [
            "Only people judge who belong to none of the groups. Lots decide who of them scores"
            " which candidate. The difference that matters is the one that they see."
        ]
    if given.judges == "neutral":
        return [
            "One person scores a candidate of each group but their own, and nobody of the leading "
            "group judges. Candidates and their order are drawn by lot, and a block counts whole "
            "or not at all. Blocks of the same round may be scored at the same time. The "
            "difference that matters is the one that these people see. Costs were measured "
            "with scores that are whole points where they spread by half a point or more."
        ]
    if given.judges == "recused":
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
    if given.at_once:
        return [start, "Whoever is chosen joins for good, at once, and nobody leaves."]
    later = f"{_units(given, given.begin_after)} later" if given.begin_after else "at once"
    return [
        start,
        f"{_short(given.joining)} of those chosen join, and begin to judge {later}. Who is on the "
        "committee is told before each round, and nobody leaves within one.",
    ]


def _of_the_bias(given: Assumptions) -> str:
    text = (
        "Scores are never negative above the lowest, and those of a group never fall as its share "
        "of those who judge grows. For the verdict and "
        "the costs, not for the chance of a wrong group: "
    )
    if given.bonus is not None:
        text += f"no share makes them higher than another by more than {_short(given.bonus)}, and "
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


def _short(part: float) -> str:
    return f"{100.0 * part:.2g}%" if part < 0.995 else f"{100.0 * part:.0f}%"


def tell_count(value: float) -> str:
    """Return a number of choices, rounded as in every answer."""
    return f"{value:,.0f}" if value < 1e7 else format_brief(value)
