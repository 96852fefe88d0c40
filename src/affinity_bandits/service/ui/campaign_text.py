"""The state of a campaign in words, for readers who have never heard of bandits."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from affinity_bandits.policies import RoundPolicy
from affinity_bandits.service.core.records import Campaign
from affinity_bandits.service.health.words import quoted
from affinity_bandits.service.ui.wording import capital, count_word, counted, listed, named, say
from affinity_bandits.wire import Finding, Health

TITLES = {
    "missing": "Answers missing for one group",
    "uneven": "Unequal numbers of answers",
    "ends": "Scores at one end of the scale",
    "standstill": "The round stands still",
    "rater": "One rater gives nearly all scores",
    "committee": "The committee does not fit",
}


def status_of(campaign: Campaign) -> str:
    """Return the status as one word, for a table."""
    return {
        "open": "Comparing",
        "decided": "Decided",
        "exhausted": "Undecided",
        "stopped": "Stopped",
    }[campaign.status]


def headline(campaign: Campaign) -> Markup:
    """Return the state of a campaign in one sentence."""
    arms = campaign.spec.arms
    if campaign.recommended is not None:
        name = named(arms[campaign.recommended])
        if campaign.status == "stopped":
            return say("{name} was recommended before the campaign was stopped", name=name)
        return say("{name} is recommended", name=name)
    left = _left_of_all(campaign)
    if campaign.status == "stopped":
        return say("Stopped while {left} were being compared", left=left)
    if campaign.status == "exhausted":
        if not campaign.spec.policy.eliminates:
            return Markup("All answers that were agreed on are in")
        return Markup("The horizon was reached before the groups could be told apart")
    return say("{left} are still being compared", left=capital(left))


def next_step(campaign: Campaign) -> Markup:
    """Return what happens next, and what it waits for."""
    spec, round_ = campaign.spec, campaign.round
    out = round_.handed_out - round_.answered
    if campaign.status == "stopped":
        if out == 0:
            return Markup("Nothing more is handed out, and no answer is awaited.")
        return say(
            "Nothing more is handed out. Answers to the {out} still out with raters will count.",
            out=counted(out, "rating"),
        )
    if campaign.status == "exhausted":
        if not spec.policy.eliminates:
            return Markup("Nothing more is handed out. Taking turns decides nothing by itself.")
        return say(
            "All {horizon} that were agreed on are used up, and nothing more is handed out. {left}"
            " were left: {names}. Telling them apart takes a new campaign with a longer horizon.",
            horizon=counted(spec.horizon, "answer"),
            left=capital(counted(len(campaign.active), "group", spelled=True)),
            names=listed([named(spec.arms[arm]) for arm in campaign.active]),
        )
    if campaign.recommended is not None:
        return say(
            "The comparison is over: every request now goes to {name}. Since then, {answers} came"
            " in.",
            name=named(spec.arms[campaign.recommended]),
            answers=counted(round_.answered, "answer"),
        )
    if campaign.awaits_judges:
        return _awaited(campaign)
    what = "The warm-up" if is_warm_up(spec.policy, round_.number) else "This round"
    needed = round_.size - round_.answered
    if needed == 0 and campaign.attention is not None:
        return say("{what} has all its answers and cannot be closed at present.", what=what)
    if needed == 0:
        return say("{what} has all its answers and is about to be closed.", what=what)
    if out == 0:
        waiting = "none is out with raters at the moment"
    elif out == needed:
        waiting = "it is out with a rater" if out == 1 else "all of them are out with raters"
    else:
        waiting = f"{out:,} {'is' if out == 1 else 'are'} out with raters"
    return say(
        "{what} needs {needed}; {waiting}.",
        what=what,
        needed=counted(needed, "more answer"),
        waiting=waiting,
    )


def _awaited(campaign: Campaign) -> Markup:
    """Return what a round waits for that nobody was named to judge, in a sentence."""
    policy = campaign.spec.policy
    label = capital(round_in_words(policy, campaign.round.number))
    if policy.judging_body == "committee":
        return say(
            "{label} waits: nobody has said yet who is in the committee now. Until then nothing is"
            " handed out.",
            label=label,
        )
    if campaign.named is not None:
        return say(
            "{label} waits for another panel than the one that was named. Until then nothing is"
            " handed out.",
            label=label,
        )
    return say(
        "{label} waits for its panel, which nobody has named yet. Until then nothing is handed"
        " out.",
        label=label,
    )


def how_it_decides(policy: RoundPolicy) -> str:
    """Return a policy's rule in words, or what all policies share if it has none."""
    return policy.rule or (
        "Groups take turns in equal numbers. What happens at the end of each round is up to the"
        " policy that the campaign was made with."
    )


def order_of_answers(campaign: Campaign) -> str:
    """Return how the order of answers affects what is promised; empty if it does not."""
    if campaign.in_flight is not None:
        return (
            f"Up to {counted(campaign.in_flight, 'choice')} under way at once are covered, in"
            " whatever order their answers come. A choice counts when its answer is told; one"
            " whose answer is never told did not take place."
        )
    if campaign.spec.policy.order_window is not None:
        return (
            "This campaign is older than the rule that limits how many choices are under way at"
            " once: what is promised of it holds if answers came in the order in which choices"
            " were handed out."
        )
    return ""


def health_in_words(health: Health) -> str:
    """Return the health of a campaign in a word or two."""
    warnings = sum(one.severity == "warning" for one in health.findings)
    notes = len(health.findings) - warnings
    parts = [(warnings, "warning"), (notes, "note")]
    return " and ".join(counted(count, noun) for count, noun in parts if count) or "No findings"


def finding_in_words(finding: Finding) -> dict[str, object]:
    """Return a finding for its place on a page, with names in their own text direction."""

    def words(text: str) -> Markup:
        parts = [Markup.escape(text)]
        for name in finding.arms:
            parts = [
                piece
                for part in parts
                for piece in _between(part.split(Markup.escape(quoted(name))), named(name))
            ]
        return Markup("").join(parts)

    return {
        "title": TITLES.get(finding.kind, capital(finding.severity)),
        "severity": finding.severity,
        "since": finding.since,
        **{name: words(getattr(finding, name)) for name in ("seen", "effect", "advice")},
    }


def is_warm_up(policy: RoundPolicy, number: int) -> bool:
    """Return whether a round is a warm-up, whose answers are set aside by plan."""
    return number < policy.warm_up_rounds


def round_label(policy: RoundPolicy, number: int) -> str:
    """Return a round's label as plans number rounds: a warm-up, then from 1."""
    if is_warm_up(policy, number):
        return "Warm-up"
    return f"Round {number + 1 - policy.warm_up_rounds}"


def round_in_words(policy: RoundPolicy, number: int) -> str:
    """Return a round's name for use in a sentence."""
    return "the warm-up" if is_warm_up(policy, number) else round_label(policy, number).lower()


def short_label(policy: RoundPolicy, number: int) -> str:
    """Return a round's label for a narrow column."""
    return round_label(policy, number).removeprefix("Round ").replace("Warm-up", "W")


def _left_of_all(campaign: Campaign) -> str:
    left, total = len(campaign.active), len(campaign.spec.arms)
    if left == total:
        return "both groups" if total == 2 else f"all {count_word(total)} groups"
    if total > 12:  # not "three of 40"
        return f"{left:,} of {total:,} groups"
    return f"{count_word(left)} of {count_word(total)} groups"


def _between(parts: Sequence[Markup], what: Markup) -> list[Markup]:
    """Return parts with something between each two."""
    found = [parts[0]]
    for part in parts[1:]:
        found += [what, part]
    return found
