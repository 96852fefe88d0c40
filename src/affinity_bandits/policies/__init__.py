"""Policies: one per file, of two kinds.

A step policy (`StepPolicy`) chooses after every feedback; a round policy (`RoundPolicy`)
announces a whole round and decides from its sums, and `AsSteps` plays it one pull at a time. No
policy can see a true mean or the bias: this package imports neither. The two that are told more
than feedback say so in `information`.
"""

from affinity_bandits import extras

extras.need("simulation", "numpy")

from affinity_bandits.policies.as_steps import AsSteps
from affinity_bandits.policies.debiased_ucb_v import DebiasedUCBV
from affinity_bandits.policies.efficient_ucb_v import EfficientUCBV
from affinity_bandits.policies.elimination import Elimination
from affinity_bandits.policies.epsilon_greedy import EpsilonGreedy
from affinity_bandits.policies.exp3 import EXP3
from affinity_bandits.policies.exp3_gains import EXP3Gains
from affinity_bandits.policies.exp3_ix import EXP3IX
from affinity_bandits.policies.explaining import Evidence, PlayedRound, RoundExplanation
from affinity_bandits.policies.explore_then_commit import ExploreThenCommit
from affinity_bandits.policies.handicap_elimination import HandicapElimination
from affinity_bandits.policies.in_python import InPython
from affinity_bandits.policies.kl_ucb import KLUCB
from affinity_bandits.policies.live import Live
from affinity_bandits.policies.lucb import LUCB
from affinity_bandits.policies.moss import MOSS
from affinity_bandits.policies.oracle import Oracle
from affinity_bandits.policies.planned import PlannedRound
from affinity_bandits.policies.policy import Policy
from affinity_bandits.policies.registry import PLANNED_BY_DEFAULT, POLICIES, register
from affinity_bandits.policies.round import FOREVER, Round, RoundPolicy
from affinity_bandits.policies.schedule import (
    ListedSchedule,
    PublishedSchedule,
    Schedule,
)
from affinity_bandits.policies.sequential_halving import SequentialHalving
from affinity_bandits.policies.step import StepPolicy
from affinity_bandits.policies.successive_rejects import SuccessiveRejects
from affinity_bandits.policies.thompson_beta import ThompsonBeta
from affinity_bandits.policies.thompson_gaussian import ThompsonGaussian
from affinity_bandits.policies.ucb1 import UCB1
from affinity_bandits.policies.ucb_v import UCBV
from affinity_bandits.policies.uniform import Uniform
from affinity_bandits.policies.weighted_ucb import WeightedUCB

__all__ = [
    "EXP3",
    "EXP3IX",
    "FOREVER",
    "KLUCB",
    "LUCB",
    "MOSS",
    "PLANNED_BY_DEFAULT",
    "POLICIES",
    "UCB1",
    "UCBV",
    "AsSteps",
    "DebiasedUCBV",
    "EXP3Gains",
    "EfficientUCBV",
    "Elimination",
    "EpsilonGreedy",
    "Evidence",
    "ExploreThenCommit",
    "HandicapElimination",
    "InPython",
    "ListedSchedule",
    "Live",
    "Oracle",
    "PlannedRound",
    "PlayedRound",
    "Policy",
    "PublishedSchedule",
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
