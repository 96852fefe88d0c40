"""Metrics for Prometheus, and log lines for the faults among them.

No label names a tenant, a key or a campaign; `database` is the name that the operator chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from affinity_bandits_client.messages import Told
from affinity_bandits_client.messages.campaigns import FAULT_KINDS, FINDING_KINDS, SEVERITIES
from affinity_bandits_service.databases import MAIN
from affinity_bandits_service.logs import log_failure, log_fault
from affinity_bandits_service.problems import NeedsAttention

METHODS = frozenset({"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"})
OF = ("database",)
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class Metrics:
    """The metrics of one server process.

    Args:
        databases: the names of its databases.
    """

    def __init__(self, databases: Iterable[str] = (MAIN,)) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        by = ("route", "method")
        self._requests = counter(
            "affinity_requests", "Requests, by what became of them.", (*by, "status")
        )
        words = "Time from a request's head to the end of its response."
        self._seconds = Histogram(
            "affinity_request_seconds", words, by, buckets=SECONDS, registry=self._registry
        )
        answers = counter("affinity_answers", "Answers told, by what became of them.", ("outcome",))
        self._counted = answers.labels("counted")
        self._late = answers.labels("late")
        self._duplicate = answers.labels("duplicate")
        self.leases = counter("affinity_leases", "Leases granted.")
        self.rounds = counter("affinity_rounds_closed", "Rounds closed.")
        self._faults = counter(
            "affinity_faults", "Faults of the service's own, by kind.", ("kind",)
        )
        for kind in FAULT_KINDS:  # so that each is there, at 0, before the first
            self._faults.labels(kind)
        self.attention = gauge(
            "affinity_campaigns_needing_attention", "Campaigns marked in the database.", OF
        )
        self._findings = gauge(
            "affinity_campaign_findings",
            "Campaigns under way with a finding of their health checks, by kind and severity.",
            (*OF, "kind", "severity"),
        )
        self.due = gauge(
            "affinity_rounds_due", "Rounds that have all their answers and wait to be closed.", OF
        )
        self.dead_rows = gauge(
            "affinity_dead_rows",
            "Old versions of campaigns' rows that an old snapshot may still see.",
            OF,
        )
        self.database = gauge(
            "affinity_database_up",
            "Whether the database answered the last look, one a second.",
            OF,
        )
        self.notice_tries = counter(
            "affinity_notice_tries", "Tries to send a notice to a webhook.", ("outcome",)
        )
        for outcome in ("received", "undelivered"):
            self.notice_tries.labels(outcome)
        self.notices = gauge(
            "affinity_notices",
            "Notices for webhooks that wait to be sent, and that were given up.",
            (*OF, "state"),
        )
        self.pool = gauge("affinity_pool_connections_in_use", "Database connections at work.", OF)
        self.pool_limit = gauge(
            "affinity_pool_connections_limit", "Database connections at most.", OF
        )
        looks = (self.attention, self.due, self.dead_rows, self.database)
        for name in databases:
            for one in (*looks, self.pool, self.pool_limit):  # at 0 before the first look
                one.labels(name)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        by = (route, method if method in METHODS else "other")
        self._requests.labels(*by, str(status)).inc()
        self._seconds.labels(*by).observe(seconds)

    def count_told(self, told: Told) -> None:
        """Count the answers of a tell."""
        self._counted.inc(told.counted)
        if told.late:
            self._late.inc(told.late)
        if told.duplicate:
            self._duplicate.inc(told.duplicate)

    def count_failure(self, error: BaseException, request_id: str | None = None) -> None:
        """Count and log an unexpected error."""
        self._faults.labels("unexpected").inc()
        log_failure(error, request_id)

    def count_fault(self, fault: NeedsAttention) -> None:
        """Count and log a fault on one campaign."""
        self._faults.labels(fault.kind).inc()
        log_fault(fault)

    def set_findings(self, database: str, campaigns: Mapping[tuple[str, str], int]) -> None:
        """Set how many campaigns of a database have each finding, by its kind and severity."""
        for kind in FINDING_KINDS:
            for severity in SEVERITIES:
                number = campaigns.get((kind, severity), 0)
                self._findings.labels(database, kind, severity).set(number)

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        return generate_latest(self._registry)
