"""From "my groups, my budget" to a schedule with a measured failure probability."""

from affinity_bandits.planning.calibration import Calibration, calibrate
from affinity_bandits.planning.certificate import Certificate
from affinity_bandits.planning.families import Family, families
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.plan import Plan, make_plan
from affinity_bandits.planning.reach import Reach
from affinity_bandits.planning.schedules import ScheduledRound
from affinity_bandits.policies import Assumptions

__all__ = [
    "Assumptions",
    "Calibration",
    "Certificate",
    "Family",
    "Outcome",
    "Plan",
    "Reach",
    "ScheduledRound",
    "calibrate",
    "families",
    "make_plan",
]
