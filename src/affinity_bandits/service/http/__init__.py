"""The service over HTTP: `create_app` returns the application, and all else here is part of it.

A request passes `access_log` (log, metrics), then its route, which looks at the key, the scope and
the limits (`auth`) before it reads anything else.
"""

from affinity_bandits.service.http.app import create_app

__all__ = ["create_app"]
