"""`affinity app`: serve the local web application and open it in the browser."""

from __future__ import annotations

import ipaddress
import socket
import threading
import webbrowser
from typing import Annotated

import typer

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput


def local_app(
    port: Annotated[str, typer.Option(help="Port to listen at; 0 takes a free one.")] = "8400",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Host name that a proxy is reached by; may be repeated."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.")
    ] = False,
) -> None:
    """See, plan and audit in the browser, on this machine."""
    chosen = checks.integer("port", registry.read_number("port", port), low=0, high=65_535)
    _check_reachable(host, allow_host or [])
    from affinity_bandits.app.application import LOOPBACK, Settings, create_local_app, serve_locally

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, chosen), family=family) as listening:
        name, number = listening.getsockname()[:2]
        address = f"http://{f'[{name}]' if ':' in name else name}:{number}"
        app = create_local_app(Settings(hosts=(*LOOPBACK, *(allow_host or ()))))
        typer.echo(f"Affinity is at {address}   (Ctrl+C ends it)")
        if not no_browser:
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        serve_locally(app, listening)


def _check_reachable(host: str, names: list[str]) -> None:
    """Refuse to listen to other machines unless the name that they use is stated."""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise InvalidInput("host", "an address such as 127.0.0.1", host) from None
    if not local and not names:
        rule = "given with --allow-host NAME, as other machines could reach this address"
        raise InvalidInput("host", rule, host)
