"""Which policy a plan runs: the one whose failure probability is proven for the assumed judges."""

from __future__ import annotations

from typing import Any

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.policies import (
    HeadStartElimination,
    MembersElimination,
    NeutralElimination,
    PanelElimination,
    Policy,
    RecusalElimination,
    RoundPolicy,
)

PlannedBlocks = NeutralElimination
"""The policy of plans in which people of third groups judge."""


def policy_for(assumptions: Assumptions) -> RoundPolicy | NeutralElimination:
    """Return the betting elimination for the assumed judges, noise and choices in flight.

    The stakes of neutral blocks are fixed before a round, so all of it may be in flight.
    """
    if assumptions.judges == "neutral":
        return NeutralElimination(failure=assumptions.failure)
    settings: dict[str, Any] = {
        "sigma": assumptions.sigma,
        "bounded": assumptions.bounded,
        "failure": assumptions.failure,
        "in_flight": assumptions.in_flight,
    }
    match assumptions.judges:
        case "panel" | "outsiders":  # outsiders are a panel on which no group has a seat
            return PanelElimination(**settings)
        case "recused":
            return RecusalElimination(**settings)
        case _ if not assumptions.at_once:
            return MembersElimination(**settings)
        case _ if assumptions.committee is None:
            return HeadStartElimination(initial_lead=assumptions.initial_lead, **settings)
        case _:  # where a group has nobody, a simulated one has somebody
            members = [number or (0, 1) for number in assumptions.committee]
            return HeadStartElimination(initial_pulls=members, **settings)


def check_promise(policy: RoundPolicy | NeutralElimination, assumptions: Assumptions) -> None:
    """Check that a plan may state a policy's failure probability as proven.

    Raises:
        InvalidInput: the policy is none by rounds, promises nothing for the assumed judges, or
            less than is tolerated, or it counts scores that have no ends.
    """
    kind: type[Policy] = RoundPolicy
    example = "a round policy, such as PanelElimination(...)"
    if assumptions.judges == "neutral":
        kind, example = NeutralElimination, "NeutralElimination(...) for neutral blocks"
    if not isinstance(policy, kind):
        raise InvalidInput("policy", example, policy)
    judges: tuple[str, ...] = (assumptions.judges,)
    if assumptions.judges == "outsiders":
        judges = ("panel",)
    if assumptions.judges == "committee":
        judges = ("members", "everybody") if assumptions.at_once else ("members",)
    failure = getattr(policy, "failure", None)
    if policy.judged_by not in judges or failure is None or failure > assumptions.failure:
        rule = (
            f"one that is proven for these judges (judged_by = {' or '.join(map(repr, judges))})"
            f" and states a failure of at most {assumptions.failure:g}"
        )
        raise InvalidInput("policy", rule, policy)
    if (
        isinstance(policy, RoundPolicy) and policy.nodes and not assumptions.bounded
    ):  # Gaussian scores are drawn as sums
        raise InvalidInput("policy", "one without nodes unless noise is bounded", policy)
