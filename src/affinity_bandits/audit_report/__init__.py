"""What an audit found, for people: one page with pictures."""

from affinity_bandits.audit_report.page import write_page

__all__ = ["write_page"]
