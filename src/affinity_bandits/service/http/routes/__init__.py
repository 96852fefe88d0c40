"""The routes of the API, a file a subject; scope, body and replies stand at each of them."""

from affinity_bandits.service.http.routes import bulk, campaigns, health, slots

__all__ = ["bulk", "campaigns", "health", "slots"]
