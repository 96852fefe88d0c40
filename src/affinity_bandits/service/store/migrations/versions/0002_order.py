"""How far out of order a round may be answered; and what 0001 wrote that can no longer be read."""

import json

import sqlalchemy
from alembic import op

from affinity_bandits.errors import NotSupported

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Let every campaign have a window, and what its policy did not know before."""
    refuse_sums_that_were_not_mapped()
    op.execute(
        "ALTER TABLE affinity.heads ADD COLUMN in_flight bigint CHECK (in_flight >= 1),"
        " ADD COLUMN oldest bigint NOT NULL DEFAULT 0"
    )
    tell_policies_of_the_setting()


def refuse_sums_that_were_not_mapped() -> None:
    """Refuse campaigns on other scales: their policies were given sums as they came."""
    found = op.get_bind().execute(
        sqlalchemy.text(
            "SELECT id FROM affinity.campaigns WHERE (lowest, highest) <> (0, 1000000000)"
            " ORDER BY number"
        )
    )
    ids = [str(row.id) for row in found]
    if ids:
        listed = ", ".join(ids[:5]) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")
        raise NotSupported(
            "this database has campaigns whose scores do not go from 0 to 1, and whose policies"
            f" were given them as they came ({listed}); now they are mapped to [0, 1], so what"
            " these campaigns decided cannot be replayed, and going on would mix the two."
            " Nothing was changed: keep this database for the version that made it, and begin"
            " them anew in another one"
        )


def tell_policies_of_the_setting() -> None:
    """Write down that handicaps were told nothing of answers out of order; they keep no window."""
    connection = op.get_bind()
    rows = connection.execute(
        sqlalchemy.text(
            "SELECT id, policy::text AS policy, saved::text AS saved FROM affinity.campaigns"
            " WHERE policy ->> 'name' = 'handicap-elimination'"
        )
    )
    for row in rows.all():
        # In Python, since its floats stay what they were to the bit.
        policy, saved = json.loads(row.policy), json.loads(row.saved)
        policy.setdefault("in_flight", None)
        saved["policy"].setdefault("in_flight", None)
        connection.execute(
            sqlalchemy.text(
                "UPDATE affinity.campaigns SET policy = CAST(:policy AS json),"
                " saved = CAST(:saved AS json) WHERE id = :id"
            ),
            {"id": row.id, "policy": json.dumps(policy), "saved": json.dumps(saved)},
        )
