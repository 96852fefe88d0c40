"""`affinity serve archive`, `delete-tenant` and `removals`: what leaves the database."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from affinity_bandits.cli.serve_common import campaign_id, with_pool
from affinity_bandits.errors import InvalidInput

By = Annotated[str | None, typer.Option(help="Who says so, for the record. [you]")]


def archive(
    context: typer.Context,
    campaign: Annotated[str, typer.Argument(help="The campaign's id.")],
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    by: By = None,
) -> None:
    """Write a finished campaign to files, read them back, and take it out of the database."""
    from affinity_bandits.service.trail.archive import archive as write

    id_, who = campaign_id(campaign), _who(by)
    done = with_pool(context.obj, lambda pool: write(pool, id_, out, by=who))
    typer.echo(f"trail: {done.events_file} ({done.trail.events:,} events)")
    typer.echo(f"about: {done.about_file}")
    typer.echo(f"digest: {done.trail.digest}")


def delete_tenant(
    context: typer.Context,
    tenant: Annotated[str, typer.Argument(help="The tenant's name.")],
    confirm: Annotated[str, typer.Option(help="The tenant's name once more.")],
    by: By = None,
) -> None:
    """Delete a tenant with its keys, webhooks and campaigns, and leave a record of that."""
    from affinity_bandits.service.trail.archive import delete_tenant as delete

    if confirm != tenant:
        raise InvalidInput("--confirm", f"the name {tenant!r} once more", confirm)
    who = _who(by)
    trails = with_pool(context.obj, lambda pool: delete(pool, tenant, by=who))
    events = sum(trail.events for trail in trails)
    typer.echo(f"{tenant} is deleted: {len(trails):,} campaigns with {events:,} events")


def removals(context: typer.Context) -> None:
    """List what was archived and deleted: when, by whom, and the digest of each trail."""
    from affinity_bandits.service.trail.archive import removals as read

    for one in with_pool(context.obj, read):
        detail = one["detail"]
        what = f"campaign {one['campaign']}" if one["campaign"] else "the tenant"
        where = detail.get("archived", "deleted")
        said = [f"{one['at']:%Y-%m-%d %H:%M} UTC", one["by"], one["tenant"], what, where]
        typer.echo("  ".join([*said, detail.get("digest", "")]).rstrip())


def _who(by: str | None) -> str:
    try:
        name = getpass.getuser() if by is None else by
    except (KeyError, OSError):  # a user without a name
        raise InvalidInput("--by", "given", by) from None
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise InvalidInput("--by", "1 to 200 printable characters", name)
    return name
