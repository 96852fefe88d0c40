"""`affinity serve`: the live decision service, its database, keys, roles and retention."""

from __future__ import annotations

import difflib
import getpass
import inspect
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints
from urllib.parse import unquote
from uuid import UUID

import typer

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.progress import show_progress

if TYPE_CHECKING:
    import asyncpg

    from affinity_bandits_service.databases import Database, Databases

Answer = TypeVar("Answer")
PREFIX = "AFFINITY_"
OF_OTHERS = ("AFFINITY_KEY", "AFFINITY_URL")  # variables of clients, as the documentation uses them
# The types and the rule of each kind of setting.
KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "text": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
}
SOURCES = {"COMMANDLINE": "flag", "ENVIRONMENT": "variable", "DEFAULT_MAP": "file"}
LONGEST_DAYS = 36_500

app = typer.Typer(help="Run comparisons on live traffic, in PostgreSQL.")
keys_app = typer.Typer(no_args_is_help=True, help="API keys: add, list, revoke.")
app.add_typer(keys_app, name="keys")


def campaign_id(text: str) -> UUID:
    """Return a campaign's id."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput("CAMPAIGN", "a campaign's id", text) from None


class Chosen(NamedTuple):
    """The settings that say which databases a command is for."""

    dsn: str
    read_dsn: str | None
    databases: str | None
    database: str | None

    def all(self) -> Databases:
        """Return the databases by name."""
        from affinity_bandits_service.databases import MAIN, Database, read_databases

        found: Databases = {MAIN: Database(self.dsn, self.read_dsn)}
        if self.databases is not None:
            found = read_databases(Path(self.databases))
        if self.database is None:
            return found
        name = checks.choice("--database", self.database, list(found))
        return {name: found[name]}

    def one(self) -> Database:
        """Return the database for a command that uses only one."""
        found = self.all()
        if len(found) > 1:
            raise InvalidInput("--database", f"one of {', '.join(found)} for this command", None)
        return next(iter(found.values()))


def with_pool(
    chosen: Chosen,
    work: Callable[[asyncpg.Pool[Any]], Awaitable[Answer]],
    *,
    reads: bool = False,
) -> Answer:
    """Run a function on a connection pool of a database with the newest schema.

    Args:
        chosen: which database.
        work: takes the pool.
        reads: whether a replica will do.
    """
    import asyncio

    from affinity_bandits_service.serving import check_schema
    from affinity_bandits_service.store.connection import connect

    database = chosen.one()
    dsn = database.for_reading if reads else database.dsn

    async def opened() -> Answer:
        await check_schema(dsn)
        pool = await connect(dsn, largest=1)
        try:
            return await work(pool)
        finally:
            await pool.close()

    return asyncio.run(opened())


class Setting(NamedTuple):
    """An option of `affinity serve` that can also be given by a variable or in a file."""

    name: str
    flag: str
    variable: str
    default: str
    kind: str
    help: str


def settings_of(command: Any) -> list[Setting]:
    """Return the settings of a command: its options that have a variable."""
    # Types are read from the function: those of typer's options differ between versions.
    hints = get_type_hints(inspect.unwrap(command.callback))
    found = []
    for option in command.params:
        if option.name in hints and option.envvar is not None:
            types = get_args(hints[option.name]) or (hints[option.name],)
            kind = next((name for name, one in KINDS.items() if one[0][-1] in types), "text")
            default = _text(option.default)
            found.append(
                Setting(option.name, option.opts[0], option.envvar, default, kind, option.help)
            )
    return found


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read a file of settings as the defaults of a command's options.

    Raises:
        InvalidInput: the file is not TOML, or has an unknown setting or a value of a wrong type.
    """
    if path is None or context.resilient_parsing:
        return path
    data = checks.toml_file(path)
    known = {one.name: one for one in settings_of(context.command) if one.name != "config"}
    checks.known_keys(f"setting in {path}", data, known)
    for name, value in data.items():
        types, rule = KINDS[known[name].kind]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            # The message has no value: it may be a secret.
            raise InvalidInput(f"{name} in {path}", rule, type(value).__name__)
    context.default_map = data
    return path


def warn_of_variables(command: Any) -> None:
    """Warn of unknown variables on stderr, as JSON like the service's log."""
    known = {one.variable for one in settings_of(command)}
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known and name not in OF_OTHERS:
            line = {"level": "warning", "event": "unknown setting", "variable": name}
            for close in difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.7):
                line["did_you_mean"] = close
            print(json.dumps(line), file=sys.stderr, flush=True)


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _without_password(dsn: str) -> str:
    # A URL surely has none if no colon comes before the user's @.
    if re.fullmatch(r"postgres(ql)?://([^:@/?#]*@)?[^@]*", dsn) and "password" not in unquote(dsn):
        return dsn
    return "(not shown: it may have a password)"


By = Annotated[str | None, typer.Option(help="Who says so, for the record. [you]")]


@app.command()
def archive(
    context: typer.Context,
    campaign: Annotated[str, typer.Argument(help="The campaign's id.")],
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    by: By = None,
) -> None:
    """Move a finished campaign from the database to files.

    The files are read back before the campaign is taken out of the database.
    """
    from affinity_bandits_service.trail.archive import archive as write

    id_, who = campaign_id(campaign), _who(by)
    done = with_pool(context.obj, lambda pool: write(pool, id_, out, by=who))
    typer.echo(f"trail: {done.events_file} ({done.trail.events:,} events)")
    typer.echo(f"about: {done.about_file}")
    typer.echo(f"digest: {done.trail.digest}")


@app.command()
def delete_tenant(
    context: typer.Context,
    tenant: Annotated[str, typer.Argument(help="The tenant's name.")],
    confirm: Annotated[str, typer.Option(help="The tenant's name once more.")],
    by: By = None,
) -> None:
    """Delete a tenant and all it has; keep a record.

    Its keys, webhooks and campaigns go, too.
    """
    from affinity_bandits_service.trail.archive import delete_tenant as delete

    if confirm != tenant:
        raise InvalidInput("--confirm", f"the name {tenant!r} once more", confirm)
    who = _who(by)
    trails = with_pool(context.obj, lambda pool: delete(pool, tenant, by=who))
    events = sum(trail.events for trail in trails)
    typer.echo(f"{tenant} is deleted: {len(trails):,} campaigns with {events:,} events")


@app.command()
def removals(context: typer.Context) -> None:
    """List removed campaigns and tenants.

    It says when and by whom, and has the digest of each trail.
    """
    from affinity_bandits_service.trail.archive import removals as read

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


@app.command()
def roles(
    context: typer.Context,
    owner: Annotated[
        str, typer.Option(help="The role that migrates and removes.")
    ] = "affinity_owner",
    service: Annotated[
        str, typer.Option(help="The role that the service connects as.")
    ] = "affinity_service",
    execute: Annotated[bool, typer.Option("--execute", help="Carry the statements out.")] = False,
) -> None:
    """Print the SQL that makes and grants both roles.

    The service's role can only read and extend the audit trail.
    """
    import asyncio

    from affinity_bandits_service.store import roles as statements

    names = (statements.check_role("owner", owner), statements.check_role("service", service))
    dsn = context.obj.one().dsn
    database, migrated = asyncio.run(statements.database_of(dsn))
    wanted = statements.setup(*names, database) + migrated * statements.grants(service)
    if execute:
        statements.carry_out(dsn, wanted)
        typer.echo(f"{owner} owns the schema, and {service} may serve; set their passwords")
        if not migrated:
            typer.echo(f"as {owner}, run 'affinity serve migrate --service-role {service}' next")
        return
    for one in wanted:
        typer.echo(f"{one};")


@app.command()
def quotas(
    context: typer.Context,
    tenant: Annotated[str, typer.Argument(help="The tenant's name.")],
    campaigns: Annotated[int | None, typer.Option(help="At most. [as it is]")] = None,
    events: Annotated[int | None, typer.Option(help="At most. [as it is]")] = None,
    bytes_: Annotated[int | None, typer.Option("--bytes", help="At most. [as it is]")] = None,
) -> None:
    """Print a tenant's usage and quotas, or change these.

    The owner of the tables does this.
    """
    from affinity_bandits_service.core.quotas import QUOTAS, set_quotas

    given = dict(zip(QUOTAS, (campaigns, events, bytes_), strict=True))
    for name, value in given.items():
        if value is not None:
            checks.integer(f"--{name}", value, low=0, high=2**62)
    row = with_pool(context.obj, lambda pool: set_quotas(pool, tenant, given))
    for name in QUOTAS:
        typer.echo(f"{name:<10} {row[name]:>20,} of {row[f'most_{name}']:,}")


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="AFFINITY_CONFIG",
            is_eager=True,
            callback=read_config,
            help="TOML file of settings, for those without a flag or a variable.",
        ),
    ] = None,
    dsn: Annotated[
        str,
        typer.Option(
            envvar="AFFINITY_DSN",
            help="PostgreSQL, as postgresql://user@host:port/database; better in the environment.",
        ),
    ] = "postgresql://127.0.0.1:5432/affinity",
    read_dsn: Annotated[
        str | None,
        typer.Option(
            envvar="AFFINITY_READ_DSN",
            help="A replica of it, for pages, lists and exports. [the same]",
        ),
    ] = None,
    databases: Annotated[
        str | None,
        typer.Option(
            envvar="AFFINITY_DATABASES",
            help="TOML file of several databases, each with tenants of its own, instead of a DSN.",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="AFFINITY_DATABASE",
            help="Only this one of them, for commands that use one. [all]",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(envvar="AFFINITY_HOST", help="Address to listen at.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(envvar="AFFINITY_PORT", help="Port to listen at; 0 takes a free one.")
    ] = 8000,
    admin_host: Annotated[
        str, typer.Option(envvar="AFFINITY_ADMIN_HOST", help="Address of probes and metrics.")
    ] = "127.0.0.1",
    admin_port: Annotated[
        int,
        typer.Option(envvar="AFFINITY_ADMIN_PORT", help="Port of probes and metrics."),
    ] = 8001,
    pool_size: Annotated[
        int, typer.Option(envvar="AFFINITY_POOL_SIZE", help="Connections per database.")
    ] = 10,
    statement_cache: Annotated[
        int,
        typer.Option(
            envvar="AFFINITY_STATEMENT_CACHE",
            help="Prepared statements per connection; 0 behind PgBouncer in transaction mode.",
        ),
    ] = 100,
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
    warn_of_variables(context.command)
    context.obj = Chosen(dsn, read_dsn, databases, database)
    if context.invoked_subcommand is not None:
        return
    from affinity_bandits_service.serving import serve

    serve(
        context.obj.all(),
        host=host,
        port=port,
        admin_host=admin_host,
        admin_port=admin_port,
        pool_size=pool_size,
        statement_cache=statement_cache,
        quiet=quiet,
        webhooks_private=webhooks_private,
        keep_requests_days=keep_requests_days,
        traces=traces,
    )


@app.command()
def settings(context: typer.Context) -> None:
    """Print every setting, and where it is from."""
    parent: Any = context.parent
    for one in settings_of(parent.command):
        source = parent.get_parameter_source(one.name)
        value = _text(parent.params.get(one.name))
        secret = one.name.endswith("dsn") and parent.params.get(one.name) is not None
        shown = _without_password(value) if secret else value
        where = SOURCES.get("" if source is None else source.name, "default")
        typer.echo(f"{one.name:<20} {shown}  ({where})")


@app.command()
def migrate(
    context: typer.Context,
    service_role: Annotated[
        str | None, typer.Option(help="Role that the service connects as, to be given its rights.")
    ] = None,
) -> None:
    """Create or check the schema of every database.

    A database must have the version that this program needs.
    """
    from affinity_bandits_service.store import roles as rights
    from affinity_bandits_service.store.migrate import SCHEMA_VERSION
    from affinity_bandits_service.store.migrate import migrate as bring_up

    if service_role is not None:
        rights.check_role("service-role", service_role)
    databases = context.obj.all()
    for name, one in databases.items():
        bring_up(one.dsn)
        if service_role is not None:
            rights.carry_out(one.dsn, rights.grants(service_role))
        where = f" in {name}" if len(databases) > 1 else ""
        typer.echo(f"the schema is version {SCHEMA_VERSION}{where}")


@app.command()
def digest(
    context: typer.Context,
    campaign: Annotated[str, typer.Argument(help="The campaign's id.")],
) -> None:
    """Print the digest of a campaign's last event.

    Keep it elsewhere: 'verify --expect' compares it.
    """
    from affinity_bandits_service.trail.chain import newest_digest

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
    """Replay a campaign and compare it with the database.

    Status 1 if it differs. Status 2: the campaign's policy is unknown to this version.
    """
    from affinity_bandits_service.trail.chain import Digest
    from affinity_bandits_service.trail.verify import verify as replay

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
    """Write a campaign's answers as a table.

    It has a row for each answer, in the order of the trail.
    """
    from affinity_bandits.base.tables import TableFile
    from affinity_bandits_service.trail.export import export as write

    id_, target = campaign_id(campaign), TableFile("out", out, force=force)
    at = [0, 0]

    def tell(event: int, events: int) -> None:
        at[:] = event, events

    with show_progress(words=lambda: "{:,} of {:,} events".format(*at)):
        rows = with_pool(context.obj, lambda pool: write(pool, id_, target, tell), reads=True)
    typer.echo(f"table: {out} ({rows:,} rows)")


@keys_app.command()
def add(
    context: typer.Context,
    tenant: Annotated[str, typer.Option(help="Whose it is; made if new.")],
    name: Annotated[str, typer.Option(help="What people call it.")],
    scopes: Annotated[str, typer.Option(help="Of ask, tell, read, admin; with commas.")],
    rate: Annotated[
        float, typer.Option(help="Requests and lines a second, in each process.")
    ] = 1000.0,
    body: Annotated[int, typer.Option(help="Bytes of the largest body.")] = 2**20,
    days: Annotated[float | None, typer.Option(help="Until it expires. [never]")] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write it to, which nobody else can read.")
    ] = None,
) -> None:
    """Make a key; it is shown only once.

    It is printed, or written to a file.
    """
    from affinity_bandits_service.core.keys import create_tenant, make_key

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

    if out is None:
        typer.echo(with_pool(context.obj, make))
        return
    try:  # before the key is made: it could not be shown again
        place = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        rule = "a file that can be written and is not there yet"
        raise InvalidInput("--out", rule, f"{out} ({error.strerror})") from None
    with open(place, "w", encoding="ascii") as file:
        try:
            file.write(with_pool(context.obj, make) + "\n")
        except BaseException:
            out.unlink()
            raise


@keys_app.command("list")
def list_(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's. [all]")] = None,
) -> None:
    """List the keys; their secrets are not kept."""
    from affinity_bandits_service.core.keys import list_keys

    for one in with_pool(context.obj, list_keys):
        if tenant is not None and one.tenant != tenant:
            continue
        state = f"revoked by {one.revoked_by}" if one.revoked_at else "in use"
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
    by: By = None,
) -> None:
    """Take a key out of use.

    Every process knows within ten seconds.
    """
    from affinity_bandits_service.core.keys import revoke_key

    # Whoever pastes a whole key means its id; the secret must not reach an error message.
    id_, who = key_id.removeprefix("ab_").partition("_")[0], _who(by)
    if not with_pool(context.obj, lambda pool: revoke_key(pool, id_, who)):
        raise InvalidInput("ID", "that of a key in use", id_)
    typer.echo(f"{id_} is revoked")
