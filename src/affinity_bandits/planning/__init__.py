"""Plan a comparison of groups: the policy, whether the choices are enough, and the cost."""

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.making import make_plan
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.reach import Reach
from affinity_bandits.planning.worlds import HardWorld, example, hard_worlds

__all__ = [
    "Assumptions",
    "HardWorld",
    "Outcome",
    "Plan",
    "Reach",
    "example",
    "hard_worlds",
    "make_plan",
]
