"""Do the scores in a log of past decisions rise with the share of a group, and how surely."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.audit.better import better
from affinity_bandits.audit.log import DecisionLog, decision_log
from affinity_bandits.audit.odds import odds
from affinity_bandits.audit.odds_t import odds_t
from affinity_bandits.audit.pair_table import PairTable, pair_table_of
from affinity_bandits.audit.pairs import pairs
from affinity_bandits.audit.rand import Path, rand
from affinity_bandits.audit.strength import Strength, strength
from affinity_bandits.audit.strict import strict
from affinity_bandits.audit.table import Table, table_of
from affinity_bandits.audit.verdict import Verdict, verdicts
from affinity_bandits.audit.within import within

__all__ = [
    "DecisionLog",
    "PairTable",
    "Path",
    "Strength",
    "Table",
    "Verdict",
    "better",
    "decision_log",
    "odds",
    "odds_t",
    "pair_table_of",
    "pairs",
    "rand",
    "strength",
    "strict",
    "table_of",
    "verdicts",
    "within",
]
