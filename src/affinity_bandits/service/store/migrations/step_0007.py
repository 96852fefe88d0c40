"""Add counts of scores by rater, for the health check of one who gives nearly all."""

from __future__ import annotations

import asyncpg


async def upgrade(db: asyncpg.Connection) -> None:
    """Add the table, and count what is on record."""
    await db.execute(
        "CREATE TABLE affinity.raters ("
        " campaign uuid NOT NULL,"
        " rater text NOT NULL,"
        " scores bigint NOT NULL,"
        " first bigint NOT NULL,"
        " place bigint NOT NULL,"
        " PRIMARY KEY (campaign, rater)"
        ") WITH (fillfactor = 50)"
    )
    await db.execute(
        "INSERT INTO affinity.raters (campaign, rater, scores, first, place)"
        " SELECT g.campaign, g.rater, sum(g.scores), min(g.number),"
        "  (array_agg(g.place ORDER BY g.number))[1]"
        " FROM (SELECT e.campaign, e.number, a.rater, count(*) AS scores, min(a.nth) AS place"
        "  FROM affinity.events AS e,"
        "   json_array_elements_text(e.detail -> 'raters') WITH ORDINALITY AS a (rater, nth)"
        "  WHERE e.kind = 'tell' AND e.detail IS NOT NULL AND e.counts IS NULL"
        "   AND e.counted = cardinality(e.told) AND a.rater IS NOT NULL"
        "  GROUP BY 1, 2, 3) AS g"
        " GROUP BY 1, 2"
    )
