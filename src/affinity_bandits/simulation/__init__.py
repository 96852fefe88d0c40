"""Simulation: many replicates of policies on a bandit, by steps or by whole rounds."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.simulation.comparing import PairedDifference
from affinity_bandits.simulation.environment import Environment
from affinity_bandits.simulation.logged_run import simulate_log
from affinity_bandits.simulation.ranking import RankedPolicy, Ranking
from affinity_bandits.simulation.result import Result, SummaryRow
from affinity_bandits.simulation.result_data import PolicyRun
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.run_log import RunLog, write_logs
from affinity_bandits.simulation.simulator import simulate
from affinity_bandits.simulation.tallies import Tally, tally_round

__all__ = [
    "Environment",
    "PairedDifference",
    "PolicyRun",
    "RankedPolicy",
    "Ranking",
    "Result",
    "RunLog",
    "StepRun",
    "SummaryRow",
    "Tally",
    "simulate",
    "simulate_log",
    "tally_round",
    "write_logs",
]
