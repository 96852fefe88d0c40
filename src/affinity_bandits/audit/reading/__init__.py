"""Logs of decisions from users' files and queries: one module a kind of file."""

from affinity_bandits.audit.reading.log_reader import LogReader, read_log
from affinity_bandits.audit.reading.queries import Query

__all__ = ["LogReader", "Query", "read_log"]
