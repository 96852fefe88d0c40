"""Test whether judges favor candidates of their own group, from a log of scores."""

from affinity_bandits.audit.conclude import Audit, audit_scores
from affinity_bandits.audit.log import ScoreLog, score_log

__all__ = ["Audit", "ScoreLog", "audit_scores", "score_log"]
