"""Bring a database's schema up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.problems import Unavailable

if TYPE_CHECKING:
    from alembic.config import Config


def migrate(dsn: str) -> None:
    """Make the schema, or run the migrations that it has not seen; several servers may at once.

    Raises:
        InvalidInput: the DSN cannot be read or the database cannot be opened.
        Unavailable: no server answers.
    """
    import sqlalchemy.exc
    from alembic import command

    try:
        command.upgrade(_config(dsn), "head")
    except sqlalchemy.exc.OperationalError as error:
        if "does not exist" in str(error) or "authentication" in str(error):
            reason = str(error.orig).strip().splitlines()[-1]
            raise InvalidInput(
                "AFFINITY_DSN", "a database that can be opened", reason.rpartition("FATAL: ")[2]
            ) from None
        raise Unavailable from error


def newest_revision() -> str:
    """Return the revision that this version of the package needs."""
    from alembic.script import ScriptDirectory

    head = ScriptDirectory.from_config(_config("postgresql:///")).get_current_head()
    assert head is not None
    return head


def _config(dsn: str) -> Config:
    import sqlalchemy.exc
    from alembic.config import Config
    from sqlalchemy.engine import make_url

    config = Config()
    config.set_main_option("script_location", "affinity_bandits.service.store:migrations")
    try:
        config.attributes["url"] = make_url(dsn).set(drivername="postgresql+psycopg")
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise InvalidInput(
            "AFFINITY_DSN", "of the form postgresql://user@host:port/database", "something else"
        ) from None
    return config
