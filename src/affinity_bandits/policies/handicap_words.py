"""What the elimination with a handicap says of itself on pages, for people."""

from __future__ import annotations

from affinity_bandits.policies.bets import BettingState, log_worth
from affinity_bandits.policies.betting_rounds import log_worth_needed
from affinity_bandits.policies.explaining import LEADER, Evidence, PlayedRound, RoundExplanation

HEAD_START = (
    "The other groups get a head start over the one that leads, so that no comparison can favour"
    " it."
)
JUDGING = {
    "chosen": f"Everybody who was chosen so far is taken to judge. {HEAD_START}",
    "members": "All members of the committee judge, and the campaign is told who they are before"
    f" each round. {HEAD_START}",
    "panel": "A panel judges, which stays the same for a round. The group that leads is compared"
    " only with those that have at least as many seats.",
    "strangers": "Nobody judges their own group, so no comparison can favour one.",
}
"""Who judges, by the setting."""
FORGETTING = (
    "The last {memory:,} who were chosen are taken to judge. Whoever judged before counts no more"
    " once so many have been chosen, and the groups are compared from then on."
)
MEANING = (
    "20 to 1 against a group: bets against it have turned every 1 that was staked into 20. Were it"
    " the best group, they would ever come to so much in at most one comparison of 20."
)


def explained(
    played: PlayedRound, before: RoundExplanation | None, warm_up_rounds: int
) -> RoundExplanation:
    """Return what is to be said of a finished round; see `RoundPolicy.explain`."""
    leader = None if before is None else before.leader
    if played.number < warm_up_rounds:
        purpose = "so many are chosen that nobody counts any more who judged before"
        return RoundExplanation(compares=False, purpose=purpose)
    absent = played.candidates - set(played.arms)
    if absent and warm_up_rounds > 0:
        return RoundExplanation(
            compares=False,
            purpose="they have their turns, so that rounds begin with the group that leads",
            leader=min(absent) if len(absent) == 1 else None,
        )
    if absent:
        purpose = (
            "their numbers are put in the order in which the comparison cannot favour the group"
            " that leads"
        )
        # Right after a change of leader it alone is absent; later, others may be as well. Of
        # two groups it can be either that is pulled.
        if len(absent) == 1 and len(played.candidates) > 2:
            (leader,) = absent
            purpose = (
                f"they get a head start over {LEADER}, so that the comparison cannot favour it"
            )
        return RoundExplanation(
            compares=False, purpose=purpose, leader=leader if leader in absent else None
        )
    return RoundExplanation(
        leader=leader,
        dropped_because="Counting earlier rounds as well, bets on the leader have won more"
        " against it than chance explains",
        none_dropped_because="This round only finds a first leader."
        if played.number == warm_up_rounds
        else "Bets on the leader have not won more than chance explains.",
    )


def odds_against(bets: BettingState) -> Evidence:
    """Return the wealth of all bets against each arm, and that at which an arm is dropped."""
    leader = int(bets.leader[0])
    return Evidence(
        against=tuple(log_worth(bets, arm) for arm in range(len(bets.dropped_in))),
        needed=log_worth_needed(bets),
        leader=leader if leader >= 0 else None,
        meaning=MEANING,
    )
