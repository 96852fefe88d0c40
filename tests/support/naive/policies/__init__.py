"""Naive twins of the policies, by the name each policy goes by."""

from .base import NaivePolicy
from .debiased_ucb_v import DebiasedUCBV
from .efficient_ucb_v import EfficientUCBV
from .elimination import Elimination
from .epsilon_greedy import EpsilonGreedy
from .exp3 import EXP3
from .exp3_gains import EXP3Gains
from .exp3_ix import EXP3IX
from .explore_then_commit import ExploreThenCommit
from .handicap_elimination import HandicapElimination
from .kl_ucb import KLUCB
from .lucb import LUCB
from .moss import MOSS
from .oracle import Oracle
from .sequential_halving import SequentialHalving
from .successive_rejects import SuccessiveRejects
from .thompson_beta import ThompsonBeta
from .thompson_gaussian import ThompsonGaussian
from .ucb1 import UCB1
from .ucb_v import UCBV
from .uniform import Uniform
from .weighted_ucb import WeightedUCB

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
    "handicap-elimination": HandicapElimination,
    "uniform": Uniform,
    "explore-then-commit": ExploreThenCommit,
    "successive-rejects": SuccessiveRejects,
    "sequential-halving": SequentialHalving,
}
