"""The service over HTTP; `create_app` and `admin_app` return its applications.

A request passes `access_log` (log, metrics, spans), then its route, which checks key, scope and
limits (`auth`) before it reads the body. Probes and metrics are at another address (`probes`).
"""

from affinity_bandits_service.http.app import create_app
from affinity_bandits_service.http.probes import admin_app

__all__ = ["admin_app", "create_app"]
