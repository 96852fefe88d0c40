"""`affinity serve`: the live decision service, its database and its keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits import checks
from affinity_bandits.cli import serve_settings
from affinity_bandits.cli.serve_common import campaign_id, event_counter, with_pool
from affinity_bandits.cli.serve_retention import archive, delete_tenant, removals
from affinity_bandits.cli.serve_roles import roles
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    import asyncpg

LONGEST_DAYS = 36_500

app = typer.Typer(help="The live decision service: run it, migrate, manage keys, verify, export.")
keys_app = typer.Typer(no_args_is_help=True, help="API keys: add, list, revoke.")
app.add_typer(keys_app, name="keys")
app.command()(roles)
app.command()(archive)
app.command()(delete_tenant)
app.command()(removals)

Dsn = Annotated[
    str,
    typer.Option(
        envvar="AFFINITY_DSN",
        help="PostgreSQL, as postgresql://user@host:port/database; better in the environment.",
    ),
]
DEFAULT_DSN = "postgresql://127.0.0.1:5432/affinity"


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="AFFINITY_CONFIG",
            is_eager=True,
            callback=serve_settings.read_config,
            help="TOML file of settings, for those without a flag or a variable.",
        ),
    ] = None,
    dsn: Dsn = DEFAULT_DSN,
    host: Annotated[
        str, typer.Option(envvar="AFFINITY_HOST", help="Address to listen at.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(envvar="AFFINITY_PORT", help="Port to listen at; 0 takes a free one.")
    ] = 8000,
    workers: Annotated[int, typer.Option(envvar="AFFINITY_WORKERS", help="Processes.")] = 1,
    pool_size: Annotated[
        int, typer.Option(envvar="AFFINITY_POOL_SIZE", help="Database connections a process.")
    ] = 10,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            envvar="AFFINITY_QUIET",
            help="Log only what fails by the service's own fault.",
        ),
    ] = False,
    webhooks_private: Annotated[
        bool,
        typer.Option(
            "--webhooks-private",
            envvar="AFFINITY_WEBHOOKS_PRIVATE",
            help="Let webhooks lead to private addresses, and by plain HTTP.",
        ),
    ] = False,
    keep_requests_days: Annotated[
        float | None,
        typer.Option(
            envvar="AFFINITY_KEEP_REQUESTS_DAYS",
            help="Days for which idempotency keys outlive a finished campaign. [for ever]",
        ),
    ] = None,
    connections: Annotated[
        int,
        typer.Option(
            envvar="AFFINITY_CONNECTIONS",
            help="Connections of clients a process, half of them from one address.",
        ),
    ] = 900,
    trusted_proxies: Annotated[
        str | None,
        typer.Option(
            envvar="AFFINITY_TRUSTED_PROXIES",
            help="Addresses or networks whose X-Forwarded-* count; with commas. [nobody's]",
        ),
    ] = None,
    secure_cookies: Annotated[
        bool,
        typer.Option(
            "--secure-cookies",
            envvar="AFFINITY_SECURE_COOKIES",
            help="Let browsers send the session by HTTPS alone, however they came.",
        ),
    ] = False,
    traces: Annotated[
        bool,
        typer.Option(
            "--traces",
            envvar="AFFINITY_TRACES",
            help="Make spans for OpenTelemetry, sent to where its own variables say.",
        ),
    ] = False,
) -> None:
    """Run the service until it is told to stop, or one of the commands below."""
    serve_settings.warn_of_variables(context)
    if context.invoked_subcommand is not None:
        context.obj = dsn
        return
    from affinity_bandits.service.serving import serve

    serve(
        dsn,
        host=host,
        port=port,
        workers=workers,
        pool_size=pool_size,
        quiet=quiet,
        webhooks_private=webhooks_private,
        keep_requests_days=keep_requests_days,
        connections=connections,
        trusted_proxies=[one.strip() for one in (trusted_proxies or "").split(",") if one.strip()],
        secure_cookies=secure_cookies,
        traces=traces,
    )


@app.command()
def settings(context: typer.Context) -> None:
    """Print every setting as it would be used, and where it is from."""
    assert context.parent is not None
    for line in serve_settings.lines(context.parent):
        typer.echo(line)


@app.command()
def migrate(
    context: typer.Context,
    service_role: Annotated[
        str | None, typer.Option(help="Role that the service connects as, to be given its rights.")
    ] = None,
) -> None:
    """Bring the database's schema up to date."""
    from affinity_bandits.service.store import roles as rights
    from affinity_bandits.service.store.migrate import migrate as bring_up
    from affinity_bandits.service.store.migrate import newest_revision

    if service_role is not None:
        rights.check_role("service-role", service_role)
    bring_up(context.obj)
    if service_role is not None:
        rights.carry_out(context.obj, rights.grants(service_role))
    typer.echo(f"the schema is {newest_revision()}, the newest")


@app.command()
def digest(
    context: typer.Context,
    campaign: Annotated[str, typer.Argument(help="The campaign's id.")],
) -> None:
    """Print the digest of a campaign's last event, to be kept elsewhere; see 'verify --expect'."""
    from affinity_bandits.service.trail.chain import newest_digest

    id_ = campaign_id(campaign)
    typer.echo(str(with_pool(context.obj, lambda pool: newest_digest(pool, id_))))


@app.command()
def verify(
    context: typer.Context,
    campaign: Annotated[str, typer.Argument(help="The campaign's id.")],
    expect: Annotated[
        list[str] | None,
        typer.Option(help="A digest that was kept, as 'digest' prints it; may be given again."),
    ] = None,
) -> None:
    """Replay a campaign's events and compare with what is stored; status 1 if it differs.

    Status 2: this version does not have the campaign's policy, and can say nothing.
    """
    from affinity_bandits.service.trail.chain import Digest
    from affinity_bandits.service.trail.verify import verify as replay

    id_, kept = campaign_id(campaign), [Digest.from_text(one) for one in expect or ()]
    found = with_pool(context.obj, lambda pool: replay(pool, id_, kept))
    for difference in found.differences:
        typer.echo(difference)
    if found.differences:
        raise typer.Exit(1)
    typer.echo(f"{found.events:,} events and {found.rounds:,} closed rounds: no difference")


@app.command()
def export(
    context: typer.Context,
    campaign: Annotated[str, typer.Argument(help="The campaign's id.")],
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a campaign's trail as a table: a row for each answer, in the order of the trail."""
    from affinity_bandits.service.trail.export import export as write
    from affinity_bandits.service.trail.table_files import Target

    id_, target = campaign_id(campaign), Target(out, force=force)
    with event_counter() as tell:
        rows = with_pool(context.obj, lambda pool: write(pool, id_, target, tell))
    typer.echo(f"table: {out} ({rows:,} rows)")


@keys_app.command()
def add(
    context: typer.Context,
    tenant: Annotated[str, typer.Option(help="Whose it is; made if new.")],
    name: Annotated[str, typer.Option(help="What people call it.")],
    scopes: Annotated[str, typer.Option(help="Of ask, tell, read, admin, keys; with commas.")],
    rate: Annotated[
        float, typer.Option(help="Requests and lines a second, in each process.")
    ] = 1000.0,
    body: Annotated[int, typer.Option(help="Bytes of the largest body.")] = 2**20,
    days: Annotated[float | None, typer.Option(help="Until it expires. [never]")] = None,
) -> None:
    """Make a key and print it; it cannot be shown again."""
    from affinity_bandits.service.core.keys import create_tenant, make_key

    expires_at = None
    if days is not None:
        checks.number("days", days, low=0, high=LONGEST_DAYS, open_low=True)
        expires_at = datetime.now(UTC) + timedelta(days=days)
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]

    async def make(pool: asyncpg.Pool[Any]) -> str:
        return await make_key(
            pool,
            await create_tenant(pool, tenant),
            name,
            wanted,
            requests_per_second=rate,
            largest_body=body,
            expires_at=expires_at,
        )

    typer.echo(with_pool(context.obj, make))


@keys_app.command("list")
def list_(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's. [all]")] = None,
) -> None:
    """List the keys; their secrets are not kept."""
    from affinity_bandits.service.core.keys import list_keys

    for one in with_pool(context.obj, list_keys):
        if tenant is not None and one.tenant != tenant:
            continue
        state = "revoked" if one.revoked_at else "in use"
        if one.expires_at is not None and not one.revoked_at:
            word = "expires" if one.expires_at > datetime.now(UTC) else "expired"
            state = f"{word} {one.expires_at:%Y-%m-%d %H:%M} UTC"
        limits = f"{one.requests_per_second:g}/s, {one.largest_body:,} bytes"
        line = (one.key_id, one.tenant, one.name, ",".join(one.scopes), limits, state)
        typer.echo("  ".join(line))


@keys_app.command()
def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(help="As 'list' shows it: not the whole key.")],
) -> None:
    """Take a key out of use; every process knows within ten seconds."""
    from affinity_bandits.service.core.keys import revoke_key

    # Whoever pastes a whole key means its id; the secret must not reach an error message.
    id_ = key_id.removeprefix("ab_").partition("_")[0]
    if not with_pool(context.obj, lambda pool: revoke_key(pool, id_)):
        raise InvalidInput("ID", "that of a key in use", id_)
    typer.echo(f"{id_} is revoked")
