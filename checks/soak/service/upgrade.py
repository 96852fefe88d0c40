"""A version 2 of the schema that exists only here: the pattern of an upgrade.

Expand, then contract: it only adds, and so serves processes of version 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from affinity_bandits_service.store import migrate as module
from affinity_bandits_service.store.migrate import Migration

EXPANDED = Migration(
    2,
    serves=1,
    text="ALTER TABLE affinity.campaigns ADD COLUMN label text;"
    " ALTER TABLE affinity.rounds ADD COLUMN label text;"
    " ALTER TABLE affinity.events ADD COLUMN label text",
    before=(
        "DROP INDEX CONCURRENTLY IF EXISTS affinity.campaigns_by_name",
        "CREATE INDEX CONCURRENTLY campaigns_by_name ON affinity.campaigns (name)",
    ),
)


@contextmanager
def release_2(step: Migration = EXPANDED) -> Iterator[None]:
    """Let this process be of a release that has version 2 of the schema."""
    with patch.object(module, "SCHEMA_VERSION", 2), patch.object(module, "MIGRATIONS", (step,)):
        yield
