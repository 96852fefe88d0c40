"""`affinity serve roles`: the roles of the database that own and that serve."""

from __future__ import annotations

from typing import Annotated

import typer


def roles(
    context: typer.Context,
    owner: Annotated[
        str, typer.Option(help="The role that migrates and removes.")
    ] = "affinity_owner",
    service: Annotated[
        str, typer.Option(help="The role that the service connects as.")
    ] = "affinity_service",
    execute: Annotated[
        bool, typer.Option("--execute", help="Carry the statements out, as a superuser.")
    ] = False,
) -> None:
    """Print the SQL that makes both roles and gives each what it needs.

    The service's role can read and add to the audit trail, and neither change nor delete it.
    """
    import asyncio

    from affinity_bandits.service.store import roles as statements

    names = (statements.check_role("owner", owner), statements.check_role("service", service))
    database = asyncio.run(statements.database_of(context.obj))
    wanted = statements.setup(*names, database) + statements.grants(service)
    if execute:
        statements.carry_out(context.obj, wanted)
        typer.echo(f"{owner} owns the schema, and {service} may serve; neither has a password yet")
        return
    for one in wanted:
        typer.echo(f"{one};")
