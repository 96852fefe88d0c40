"""Do the scores in a log of past decisions rise with the share of a group, and how surely."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.audit.betting_odds import odds
from affinity_bandits.audit.bonus_set import Strength, strength
from affinity_bandits.audit.comparison import better
from affinity_bandits.audit.drawn_panels import Path, panels_at_random
from affinity_bandits.audit.drifting_odds import odds_with_drift
from affinity_bandits.audit.likelihoods import likelihood_ratios
from affinity_bandits.audit.log import DecisionLog, decision_log
from affinity_bandits.audit.matched_pairs import pairs
from affinity_bandits.audit.pair_table import PairTable, pair_table_of
from affinity_bandits.audit.recorded_panels import panels_on_record
from affinity_bandits.audit.simulated import log_of_run
from affinity_bandits.audit.table import Table, table_of
from affinity_bandits.audit.verdict import Verdict, verdicts

__all__ = [
    "DecisionLog",
    "PairTable",
    "Path",
    "Strength",
    "Table",
    "Verdict",
    "better",
    "decision_log",
    "likelihood_ratios",
    "log_of_run",
    "odds",
    "odds_with_drift",
    "pair_table_of",
    "pairs",
    "panels_at_random",
    "panels_on_record",
    "strength",
    "table_of",
    "verdicts",
]
