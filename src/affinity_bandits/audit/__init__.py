"""Test whether judges favor candidates of their own group, from a log of scores."""

from affinity_bandits.audit.conclude import Audit, audit_scores
from affinity_bandits.audit.log import ScoreLog, score_log
from affinity_bandits.audit.look import Answers, Look, open_log
from affinity_bandits.audit.tables import read_table

__all__ = [
    "Answers",
    "Audit",
    "Look",
    "ScoreLog",
    "audit_scores",
    "open_log",
    "read_table",
    "score_log",
]
