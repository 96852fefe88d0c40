"""The service over HTTP; `create_app` returns the application.

A request passes `access_log` (log, metrics, spans), then its route, which checks key, scope and
limits (`auth`) before it reads the body.
"""

from affinity_bandits.service.http.app import create_app

__all__ = ["create_app"]
