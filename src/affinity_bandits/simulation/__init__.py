"""Simulation: many replicates of policies on a bandit, by steps or by whole rounds."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.simulation.comparing import PairedDifference
from affinity_bandits.simulation.environment import Environment
from affinity_bandits.simulation.result import Result, SummaryRow
from affinity_bandits.simulation.result_data import PolicyRun
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.simulator import simulate
from affinity_bandits.simulation.tallies import Tally, tally_round

__all__ = [
    "Environment",
    "PairedDifference",
    "PolicyRun",
    "Result",
    "StepRun",
    "SummaryRow",
    "Tally",
    "simulate",
    "tally_round",
]
