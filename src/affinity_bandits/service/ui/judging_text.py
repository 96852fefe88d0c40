"""Who judges, in words: this round, the next one, and what happens if nobody can be seated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from affinity_bandits.service.core.judging import in_order
from affinity_bandits.service.core.records import Campaign, ClosedRound, Progress
from affinity_bandits.service.ui.campaign_text import round_in_words
from affinity_bandits.service.ui.wording import listed, named, say

MOST_SEATS = 12
"""Groups whose seats are listed."""
WHY = "a comparison cannot favour whoever is fewest"


@dataclass(frozen=True)
class JudgingView:
    """What a page says of who judges.

    Attributes:
        rule: of the policy, in words.
        caption: of the table of those who judge the round under way.
        rows: of that table, a group and a number each.
        more: groups that it leaves out.
        sentences: about this round and the next.
        committee: the initial one, in words; empty if it was not told.
    """

    rule: str
    caption: str
    rows: list[tuple[str, int]]
    more: int
    sentences: list[Markup]
    committee: Markup


def judging_view(campaign: Campaign) -> JudgingView | None:
    """Return what is to be said of who judges; None if there is nothing."""
    spec, now = campaign.spec, campaign.round
    rows: list[tuple[str, int]] = []
    caption, more = "", 0
    comparing = spec.policy.told_judges and campaign.status == "open"
    if comparing and now.judges is not None:
        label = round_in_words(spec.policy, now.number)
        before = "" if spec.policy.judging_body == "panel" else "before "
        caption = f"The {spec.policy.judging_body} {before or 'of '}{label}"
        order = sorted(range(len(spec.arms)), key=lambda arm: arm not in campaign.active)
        rows = [(spec.arms[arm], now.judges[arm]) for arm in order[:MOST_SEATS]]
        more = len(order) - len(rows)
        if now.outsiders:
            rows.append(("of no group", now.outsiders))
    committee = Markup()
    if spec.committee is not None:
        members = seats_in_words(spec.arms, spec.committee, 0)
        committee = say("At the beginning the committee had {members}.", members=members)
    sentences = _sentences(campaign) if comparing else []
    if not (spec.policy.judging or rows or sentences or committee):
        return None
    return JudgingView(spec.policy.judging, caption, rows, more, sentences, committee)


def seats_in_words(arms: Sequence[str], seats: Sequence[int], outsiders: int) -> Markup:
    """Return who judges as a list: "2 of A, 3 of B and 1 of no group"."""
    parts = [
        say("{n} of {name}", n=f"{n:,}", name=named(name))
        for name, n in zip(arms, seats, strict=True)
        if n
    ]
    if outsiders:
        parts.append(Markup(f"{outsiders:,} of no group"))
    return listed(parts, most=6) if parts else Markup("nobody of any group")


def not_compared(
    arms: Sequence[str], round_: Progress | ClosedRound, left: Sequence[int]
) -> tuple[Markup, Markup] | None:
    """Return the leader, and those with fewer seats, which it is not compared with; None if none.

    Args:
        arms: names.
        round_: the round.
        left: arms that took part in the comparison.
    """
    leader, judges = round_.fewest_seats, round_.judges
    if leader is None or judges is None:
        return None
    fewer = [named(arms[arm]) for arm in left if judges[arm] < judges[leader]]
    return (named(arms[leader]), listed(fewer)) if fewer else None


def _sentences(campaign: Campaign) -> list[Markup]:
    if campaign.spec.policy.judging_body == "committee":
        return _of_committee(campaign)
    return _of_waiting_panel(campaign) if campaign.awaits_judges else _of_panel(campaign)


def _of_committee(campaign: Campaign) -> list[Markup]:
    if campaign.awaits_judges:
        return [
            Markup(
                "Say how many members each group has now: with those who joined since the last"
                " round, without those who left. The round opens at once."
            )
        ]
    if campaign.named is not None and campaign.named.standing:
        return [Markup("It is taken to stay as it is until somebody says otherwise.")]
    if campaign.named is not None:
        return [_named_next(campaign)]
    return [Markup("The next round opens once somebody has said who is in the committee then.")]


def _of_waiting_panel(campaign: Campaign) -> list[Markup]:
    wanted = campaign.round.fewest_seats
    if wanted is None:
        return [Markup("Nobody leads yet, so any panel will do.")]
    spec = campaign.spec
    leader = named(spec.arms[wanted])
    found = [
        say(
            "{leader} leads. For {label} it should have no more seats than any other group: {why}.",
            leader=leader,
            label=round_in_words(spec.policy, campaign.round.number),
            why=WHY,
        )
    ]
    if campaign.named is not None:
        seats = campaign.named
        found.append(
            say(
                "The panel that was named ({seats}) gives it more, so it was not seated.",
                seats=seats_in_words(spec.arms, seats.counts, seats.outsiders),
            )
        )
    found.append(
        say(
            "If nobody can be seated so, the round waits. A panel that is named all the same is"
            " seated, but {leader} is not compared with any group that has fewer seats.",
            leader=leader,
        )
    )
    return found


def _of_panel(campaign: Campaign) -> list[Markup]:
    spec, now = campaign.spec, campaign.round
    found = []
    if (pair := not_compared(spec.arms, now, now.arms)) is not None:
        found.append(
            say(
                "{leader}, which leads, has more seats than {fewer}: in this round they are not"
                " compared.",
                leader=pair[0],
                fewer=pair[1],
            )
        )
    if now.fewest_seats is not None:
        found.append(
            say(
                "{leader} leads. If it still does when this round ends, it should have no more"
                " seats in the next round than any other group: {why}.",
                leader=named(spec.arms[now.fewest_seats]),
                why=WHY,
            )
        )
    seats = campaign.named
    if seats is None:
        found.append(Markup("Nobody is named for the next round yet, which will wait for that."))
    elif not seats.standing or seats.counts != now.judges:
        found.append(_named_next(campaign))
    elif in_order(now.fewest_seats, now.arms, seats):
        found.append(
            Markup(
                "This panel stands: it judges the rounds to come as well, as long as the group that"
                " leads has no more seats than any other."
            )
        )
    return found


def _named_next(campaign: Campaign) -> Markup:
    seats = campaign.named
    assert seats is not None
    return say(
        "For the next {rounds}, {seats} are named.",
        rounds="rounds" if seats.standing else "round",
        seats=seats_in_words(campaign.spec.arms, seats.counts, seats.outsiders),
    )


def judged(body: str, arms: Sequence[str], round_: ClosedRound, left: Sequence[int]) -> Markup:
    """Return who judged a closed round, and who was not compared in it; empty if it is not told."""
    if round_.judges is None:
        return Markup()
    seats = seats_in_words(arms, round_.judges, round_.outsiders or 0)
    if body == "committee":
        return say("The committee then had {seats}.", seats=seats)
    words = say("The panel had {seats}.", seats=seats)
    pair = not_compared(arms, round_, left)
    if pair is None:
        return words
    apart = say(
        " {leader}, which led, had more seats than {fewer}, so they were not compared.",
        leader=pair[0],
        fewer=pair[1],
    )
    return words + apart
