"""Do the scores in a log of past decisions rise with the share of a group, and how surely."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.audit.log import DecisionLog, decision_log

__all__ = ["DecisionLog", "decision_log"]
