"""Every policy by its name, and how to add one's own."""

from __future__ import annotations

from typing import TypeVar

from affinity_bandits import names
from affinity_bandits.policies.debiased_ucb_v import DebiasedUCBV
from affinity_bandits.policies.efficient_ucb_v import EfficientUCBV
from affinity_bandits.policies.elimination import Elimination
from affinity_bandits.policies.epsilon_greedy import EpsilonGreedy
from affinity_bandits.policies.exp3 import EXP3
from affinity_bandits.policies.exp3_gains import EXP3Gains
from affinity_bandits.policies.exp3_ix import EXP3IX
from affinity_bandits.policies.explore_then_commit import ExploreThenCommit
from affinity_bandits.policies.handicap_elimination import HandicapElimination
from affinity_bandits.policies.kl_ucb import KLUCB
from affinity_bandits.policies.lucb import LUCB
from affinity_bandits.policies.moss import MOSS
from affinity_bandits.policies.oracle import Oracle
from affinity_bandits.policies.policy import Policy
from affinity_bandits.policies.round import RoundPolicy
from affinity_bandits.policies.sequential_halving import SequentialHalving
from affinity_bandits.policies.step import StepPolicy
from affinity_bandits.policies.successive_rejects import SuccessiveRejects
from affinity_bandits.policies.thompson_beta import ThompsonBeta
from affinity_bandits.policies.thompson_gaussian import ThompsonGaussian
from affinity_bandits.policies.ucb1 import UCB1
from affinity_bandits.policies.ucb_v import UCBV
from affinity_bandits.policies.uniform import Uniform
from affinity_bandits.policies.weighted_ucb import WeightedUCB

Own = TypeVar("Own", bound=type[Policy])

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        Elimination,
        HandicapElimination,
        Uniform,
        ExploreThenCommit,
        SuccessiveRejects,
        SequentialHalving,
        WeightedUCB,
        UCB1,
        KLUCB,
        MOSS,
        UCBV,
        DebiasedUCBV,
        EfficientUCBV,
        EXP3,
        EXP3Gains,
        EXP3IX,
        LUCB,
        ThompsonBeta,
        ThompsonGaussian,
        EpsilonGreedy,
        Oracle,
    )
}
"""Every policy by its name."""

PLANNED_BY_DEFAULT: type[RoundPolicy] = HandicapElimination
"""What plans are made with unless told otherwise."""


def register(policy: Own) -> Own:
    """Add a policy class of one's own to `POLICIES`; can be used as a decorator.

    From then on this process makes the policy from its name: in `simulate`, in files of runs and
    sweeps and, if it plans rounds, in campaigns of the service. Every process that is to know it
    must register it: all server processes of a service, and whoever replays its audit trail.

    Raises:
        InvalidInput: it is no class of step or round policies, has no name, or has that of another.
    """
    bases = (StepPolicy, RoundPolicy)
    rule = "a class of step or round policies, or one with select() and update(arm, feedback)"
    found: Own = names.add_class("policy", policy, POLICIES, bases, rule)
    return found
