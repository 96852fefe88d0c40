"""Simulation: many replicates of policies on a bandit, by steps or by whole rounds."""

from affinity_bandits.simulation.among_judges import (
    AmongJudges,
    simulate_blocks,
    simulate_slots,
)
from affinity_bandits.simulation.environment import Environment
from affinity_bandits.simulation.logs import RunLog, simulate_log, write_logs
from affinity_bandits.simulation.rankings import PairedDifference, RankedPolicy, Ranking
from affinity_bandits.simulation.result import PolicyRun, Result
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.simulator import simulate
from affinity_bandits.simulation.summary import SummaryRow

__all__ = [
    "AmongJudges",
    "Environment",
    "PairedDifference",
    "PolicyRun",
    "RankedPolicy",
    "Ranking",
    "Result",
    "RunLog",
    "StepRun",
    "SummaryRow",
    "simulate",
    "simulate_blocks",
    "simulate_log",
    "simulate_slots",
    "write_logs",
]
