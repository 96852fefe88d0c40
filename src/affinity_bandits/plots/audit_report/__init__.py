"""The report of an audit: one page with pictures."""

from affinity_bandits.plots.audit_report.page import write_report

__all__ = ["write_report"]
