"""From "my groups, my budget" to a comparison that no admitted bias can fool, and its cost."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.examples import Example, examples
from affinity_bandits.planning.hardest import HardWorld, hard_worlds
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.plan import Plan, make_plan
from affinity_bandits.planning.reach import Reach
from affinity_bandits.planning.schedules import ScheduledRound

__all__ = [
    "Assumptions",
    "Example",
    "HardWorld",
    "Outcome",
    "Plan",
    "Reach",
    "ScheduledRound",
    "examples",
    "hard_worlds",
    "make_plan",
]
