"""Trusted proxies: who may say, in headers, where a request came from and over what."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.core.addresses import address_of
from affinity_bandits.service.core.memory import remember

RULE = "addresses or networks such as 10.0.0.7 or 10.0.0.0/8"


class Proxies:
    """The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed; none by default.

    Args:
        trusted: their addresses or networks.

    Raises:
        InvalidInput: one of them is neither.
    """

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        if isinstance(trusted, str):
            raise InvalidInput("trusted_proxies", f"a list of {RULE}", trusted)
        try:
            self._networks = tuple(ipaddress.ip_network(one, strict=False) for one in trusted)
        except ValueError:
            raise InvalidInput("trusted_proxies", RULE, list(trusted)) from None
        self._known: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trust(self, host: str) -> bool:
        """Return whether this is the address of a trusted proxy."""
        if not self._networks:
            return False
        known = self._known.get(host)
        if known is None:
            address = address_of(host)
            known = address is not None and any(address in one for one in self._networks)
            remember(self._known, host, known)
        return known

    def client(self, forwarded: str) -> str | None:
        """Return the client that an `X-Forwarded-For` names: the last that is no trusted proxy.

        What stands before it was sent by that client, and may be anything. None: it names none.
        """
        last = None
        for part in reversed(forwarded.split(",")):
            found = address_of(part.strip())
            if found is None:
                return last
            last = str(found)
            if not self.trust(last):
                return last
        return last


class Forwarded:
    """Middleware that takes client and scheme from the headers of trusted proxies.

    Args:
        app: the application inside.
        proxies: whom to believe.
    """

    def __init__(self, app: ASGIApp, proxies: Proxies) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the client and the scheme that a trusted proxy says."""
        client = scope.get("client")
        if scope["type"] == "http" and client and self._proxies.trust(client[0]):
            sent: dict[bytes, list[str]] = {b"x-forwarded-for": [], b"x-forwarded-proto": []}
            for name, value in scope["headers"]:
                if name in sent:
                    sent[name].append(value.decode("latin-1"))
            found = self._proxies.client(",".join(sent[b"x-forwarded-for"]))
            if found is not None:
                scope["client"] = (found, 0)
            # Of several, the last was written by the proxy that is trusted.
            schemes = ",".join(sent[b"x-forwarded-proto"]).lower()
            scheme = schemes.rpartition(",")[2].strip()
            if scheme in ("http", "https"):
                scope["scheme"] = scheme
        await self._app(scope, receive, send)
