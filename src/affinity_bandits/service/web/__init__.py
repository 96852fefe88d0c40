"""The service over HTTP: `create_app` makes it, everything else here is a part of it.

A request passes `observing` (log, metrics), then `guard` (key, scope, limits), then a route.
"""

from affinity_bandits.service.web.app import create_app

__all__ = ["create_app"]
