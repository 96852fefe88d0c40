"""Which scope each route takes: the one place that says so."""

from __future__ import annotations

OPEN = ""
"""The scope of routes that need no key."""

SCOPES = {
    ("POST", "/v1/campaigns"): "admin",
    ("GET", "/v1/campaigns"): "read",
    ("GET", "/v1/campaigns/{campaign}"): "read",
    ("POST", "/v1/campaigns/{campaign}/ask"): "ask",
    ("POST", "/v1/campaigns/{campaign}/tell"): "tell",
    ("POST", "/v1/campaigns/{campaign}/tells"): "tell",
    ("POST", "/v1/campaigns/{campaign}/stop"): "admin",
    ("GET", "/v1/campaigns/{campaign}/rounds"): "read",
    ("GET", "/v1/campaigns/{campaign}/events"): "read",
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/metrics"): OPEN,
    ("GET", "/openapi.json"): OPEN,
}

UI = "/ui"
"""Everything below it is open: the pages have a login of their own."""
BULK = "/v1/campaigns/{campaign}/tells"

_TEMPLATES = frozenset(template for _, template in SCOPES)
_CAMPAIGN = "/v1/campaigns/"


def template_of(path: str) -> str | None:
    """Return the template of the route that answers a path, None if there is none.

    >>> template_of("/v1/campaigns/17/ask")
    '/v1/campaigns/{campaign}/ask'
    """
    if path.startswith(_CAMPAIGN):
        campaign, slash, action = path[len(_CAMPAIGN) :].partition("/")
        template = f"{_CAMPAIGN}{{campaign}}{slash}{action}"
        return template if campaign and template in _TEMPLATES else None
    if path in _TEMPLATES:
        return path
    return UI if path == UI or path.startswith(UI + "/") else None


def methods_of(template: str) -> list[str]:
    """Return the methods of a route."""
    return [method for method, known in SCOPES if known == template]
