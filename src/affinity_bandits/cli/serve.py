"""`affinity serve`, where the service is installed."""

from __future__ import annotations

import typer

from affinity_bandits.base.errors import MissingExtra


def add_serve(app: typer.Typer) -> None:
    """Add the service's command, or one that says what to install."""
    try:
        from affinity_bandits_service.cli import app as serve_app
    except ModuleNotFoundError as error:
        if error.name != "affinity_bandits_service":  # installed, and broken
            raise
        app.command(
            "serve",
            add_help_option=False,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(name_the_package)
    else:
        app.add_typer(serve_app, name="serve")


def name_the_package() -> None:
    """Run comparisons on live traffic (not installed)."""
    raise MissingExtra("affinity-bandits-service", ". ./packages/client ./packages/service")
