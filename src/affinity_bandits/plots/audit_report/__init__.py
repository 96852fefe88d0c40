"""The report of an audit: one page with pictures."""

from affinity_bandits.plots.audit_report.page import write_page

__all__ = ["write_page"]
