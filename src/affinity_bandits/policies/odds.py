"""What the bets of an elimination have come to, as the odds against each arm that pages show."""

from __future__ import annotations

from affinity_bandits.policies.bets import BettingState, log_worth
from affinity_bandits.policies.betting_rounds import log_worth_needed
from affinity_bandits.policies.explaining import Evidence

MEANING = (
    "20 to 1 against a group: bets against it have turned every 1 that was staked into 20. Were it"
    " the best group, they would ever come to so much in at most one comparison of 20."
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
