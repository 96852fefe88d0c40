"""Policies: step policies choose after every feedback, round policies announce whole rounds.

`AsSteps` plays a round policy one pull at a time. This package imports neither the bandit nor the
bias, so true means stay hidden. Policies that are told more than feedback state it in
`information`.
"""

from affinity_bandits.policies import live
from affinity_bandits.policies.baselines import EpsilonGreedy, Oracle, Uniform
from affinity_bandits.policies.blocks import Block, BlockPolicy, Blocks
from affinity_bandits.policies.contracts import FOREVER, Policy, Round, RoundPolicy, StepPolicy
from affinity_bandits.policies.crossed import CrossedElimination
from affinity_bandits.policies.elimination import (
    Elimination,
    ExploreThenCommit,
    ListedSchedule,
    PublishedSchedule,
    Schedule,
    SequentialHalving,
    SuccessiveRejects,
)
from affinity_bandits.policies.exp3 import EXP3, EXP3IX, EXP3Gains
from affinity_bandits.policies.explaining import Evidence, PlayedRound, RoundExplanation
from affinity_bandits.policies.forgetting import MemoryElimination
from affinity_bandits.policies.head_start import HeadStartElimination
from affinity_bandits.policies.live import AsSteps, InPython, Live
from affinity_bandits.policies.members import MembersElimination
from affinity_bandits.policies.neutral import NeutralElimination
from affinity_bandits.policies.panels import PanelElimination
from affinity_bandits.policies.recusal import RecusalElimination
from affinity_bandits.policies.thompson import ThompsonBeta, ThompsonGaussian
from affinity_bandits.policies.ucb import KLUCB, LUCB, MOSS, UCB1
from affinity_bandits.policies.ucb_v import UCBV, DebiasedUCBV, EfficientUCBV, WeightedUCB

__all__ = [
    "BLOCK_POLICIES",
    "EXP3",
    "EXP3IX",
    "FOREVER",
    "KLUCB",
    "LUCB",
    "MOSS",
    "POLICIES",
    "UCB1",
    "UCBV",
    "AsSteps",
    "Block",
    "BlockPolicy",
    "Blocks",
    "CrossedElimination",
    "DebiasedUCBV",
    "EXP3Gains",
    "EfficientUCBV",
    "Elimination",
    "EpsilonGreedy",
    "Evidence",
    "ExploreThenCommit",
    "HeadStartElimination",
    "InPython",
    "ListedSchedule",
    "Live",
    "MembersElimination",
    "MemoryElimination",
    "NeutralElimination",
    "Oracle",
    "PanelElimination",
    "PlayedRound",
    "Policy",
    "PublishedSchedule",
    "RecusalElimination",
    "Round",
    "RoundExplanation",
    "RoundPolicy",
    "Schedule",
    "SequentialHalving",
    "StepPolicy",
    "SuccessiveRejects",
    "ThompsonBeta",
    "ThompsonGaussian",
    "Uniform",
    "WeightedUCB",
    "register",
]

POLICIES = live.PolicyRegistry(
    "policy",
    (StepPolicy, RoundPolicy),
    "a class of step or round policies, or one with select() and update(arm, feedback)",
    (
        Elimination,
        HeadStartElimination,
        MembersElimination,
        PanelElimination,
        RecusalElimination,
        MemoryElimination,
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
    ),
)
"""Every policy by its name."""
BLOCK_POLICIES: dict[str, type[BlockPolicy]] = {
    cls.name: cls for cls in (NeutralElimination, CrossedElimination)
}
"""Block policies by name: campaigns run them; bandits, which give a score at a time, cannot."""
register = POLICIES.register
