"""Assumptions whose plans take a moment."""

from dataclasses import replace

from affinity_bandits.planning import Assumptions, HardWorld, Outcome
from affinity_bandits.planning.runs import run_hardest
from affinity_bandits.policies import RoundPolicy

TINY = Assumptions(groups=2, horizon=300, smallest_difference=0.5, initial_lead=2, steepness=0.0)
SMALL = Assumptions(groups=2, horizon=1000, smallest_difference=0.5, initial_lead=3, steepness=1.0)
HOPELESS = replace(TINY, horizon=20, smallest_difference=0.1, noise="gaussian", lipschitz=1.0)
LONG_ENOUGH = Assumptions(
    groups=2, horizon=3000, smallest_difference=0.3, initial_lead=20, steepness=1.0
)
TOO_SHORT = replace(LONG_ENOUGH, horizon=100)
SOME_JOIN = Assumptions(
    *(2, 20_000, 0.2), committee=[12, 4], bonus=0.3, spread=0.25, joining=0.25, pace=10.0
)
STARS = Assumptions(3, 2000, 0.3, bonus=0.25, spread=1.0, lowest=1.0, highest=5.0)
UNSURE = replace(STARS, favors_differ=True, strictness_differs=True)


def outcome_in(hard: HardWorld, policy: RoundPolicy, horizon: int, runs: int, seed: int) -> Outcome:
    """Run a policy in one hardest world and count."""
    return run_hardest(hard, policy, horizon, runs, seed).within(horizon)
