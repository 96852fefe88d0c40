"""Naive twins of the policies, by the name each policy goes by."""

from .base import NaivePolicy
from .baselines import (
    EpsilonGreedy,
    ExploreThenCommit,
    Oracle,
    SequentialHalving,
    SuccessiveRejects,
    Uniform,
)
from .elimination import Elimination
from .exp3 import EXP3, EXP3IX, EXP3Gains
from .head_start_elimination import (
    HeadStartElimination,
    MembersElimination,
    PanelElimination,
    RecusalElimination,
)
from .thompson import ThompsonBeta, ThompsonGaussian
from .ucb import KLUCB, LUCB, MOSS, UCB1, WeightedUCB
from .ucb_v import UCBV, DebiasedUCBV, EfficientUCBV

NAIVE: dict[str, type[NaivePolicy]] = {
    "ucb1": UCB1,
    "kl-ucb": KLUCB,
    "moss": MOSS,
    "ucb-v": UCBV,
    "debiased-ucb-v": DebiasedUCBV,
    "weighted-ucb": WeightedUCB,
    "efficient-ucb-v": EfficientUCBV,
    "exp3": EXP3,
    "exp3-gains": EXP3Gains,
    "exp3-ix": EXP3IX,
    "lucb": LUCB,
    "thompson-beta": ThompsonBeta,
    "thompson-gaussian": ThompsonGaussian,
    "epsilon-greedy": EpsilonGreedy,
    "oracle": Oracle,
    "elimination": Elimination,
    "head-start-elimination": HeadStartElimination,
    "members-elimination": MembersElimination,
    "panel-elimination": PanelElimination,
    "recusal-elimination": RecusalElimination,
    "memory-elimination": HeadStartElimination,
    "uniform": Uniform,
    "explore-then-commit": ExploreThenCommit,
    "successive-rejects": SuccessiveRejects,
    "sequential-halving": SequentialHalving,
}
