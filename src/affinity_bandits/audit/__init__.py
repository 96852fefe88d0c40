"""Do the scores in a log of past decisions rise with the share of a group, and how surely."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.audit.betting_odds import odds
from affinity_bandits.audit.bonus_set import Strength, strength
from affinity_bandits.audit.comparison import Comparisons, better
from affinity_bandits.audit.drawn_panels import Path, panels_at_random
from affinity_bandits.audit.drifting_odds import odds_with_drift
from affinity_bandits.audit.estimates import Estimates, estimates
from affinity_bandits.audit.exponent_set import Exponents, exponents
from affinity_bandits.audit.indicated import indicated
from affinity_bandits.audit.known_rule import KnownRule, known_rule
from affinity_bandits.audit.likelihoods import likelihood_ratios
from affinity_bandits.audit.log import DecisionLog, Rows, decision_log
from affinity_bandits.audit.matched_pairs import pairs
from affinity_bandits.audit.mean_ratios import Ratio, mean_ratios
from affinity_bandits.audit.one_pass import OnePass, Summary, summary_of, summary_of_log
from affinity_bandits.audit.overview import Course, Tally
from affinity_bandits.audit.pair_table import PairTable, pair_table_of
from affinity_bandits.audit.placebo import Placebo, placebo
from affinity_bandits.audit.power import Power, power
from affinity_bandits.audit.recorded_panels import panels_on_record
from affinity_bandits.audit.sensitivity import Sensitivity, sensitivity
from affinity_bandits.audit.simulated import log_of_run
from affinity_bandits.audit.table import Table, table_of
from affinity_bandits.audit.verdict import Verdict, verdicts

__all__ = [
    "Comparisons",
    "Course",
    "DecisionLog",
    "Estimates",
    "Exponents",
    "KnownRule",
    "OnePass",
    "PairTable",
    "Path",
    "Placebo",
    "Power",
    "Ratio",
    "Rows",
    "Sensitivity",
    "Strength",
    "Summary",
    "Table",
    "Tally",
    "Verdict",
    "better",
    "decision_log",
    "estimates",
    "exponents",
    "indicated",
    "known_rule",
    "likelihood_ratios",
    "log_of_run",
    "mean_ratios",
    "odds",
    "odds_with_drift",
    "pair_table_of",
    "pairs",
    "panels_at_random",
    "panels_on_record",
    "placebo",
    "power",
    "sensitivity",
    "strength",
    "summary_of",
    "summary_of_log",
    "table_of",
    "verdicts",
]
