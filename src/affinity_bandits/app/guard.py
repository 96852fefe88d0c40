"""Checks of every request, and the headers of every response."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from affinity_bandits.app.rendering import show_problem

READING = ("GET", "HEAD")
HOST = re.compile(r"\[?([^@/\[\]]+?)\]?(:\d+)?")
HEADERS = {
    # Pictures may be part of a page. Nothing is inline, so injected markup cannot run or restyle.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",  # an address holds a whole situation
    "cache-control": "no-store",
}


class Guard:
    """Refuses requests of other sites and large bodies; adds the security headers.

    Args:
        app: the application behind it.
        hosts: the host names that it is reached by. A name that another site points to this
            address (DNS rebinding) is not among them.
        largest_body: bytes.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], largest_body: int) -> None:
        self._app = app
        self._hosts = {host.casefold() for host in hosts}
        self._largest = largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        answer = self._app if refusal is None else show_problem(Request(scope), *refusal)
        await answer(scope, receive, sealed)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str, str] | None:
        """Return the status, title and words of a refusal; None if there is nothing to refuse."""
        host = headers.get("host", "")
        named = HOST.fullmatch(host)
        if named is None or named[1].casefold() not in self._hosts:
            words = "Start the application with --allow-host and this name to reach it by it."
            return 421, "This address is not allowed", words
        site = headers.get("sec-fetch-site")
        opens_page = method in READING and headers.get("sec-fetch-mode") == "navigate"
        if site not in (None, "same-origin", "none") and not opens_page:
            return 403, "Another site asked for this", "Open the page yourself and try again."
        if method in READING:
            return None
        # Browsers send one of the two with every form; a request with neither is refused, too.
        own = (f"http://{host}", f"https://{host}")
        if site != "same-origin" and headers.get("origin") not in own:
            return 403, "Another site sent this form", "Open the page yourself and try again."
        size = headers.get("content-length", "")
        if not size.isdecimal():
            return 411, "The length is missing", "A request must state the length of its body."
        if int(size) > self._largest:
            limit = self._largest // 2**20
            return 413, "The file is too large", f"At most {limit} MiB are accepted."
        return None
