"""A limit on the size of request headers, which uvicorn alone does not have."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 65_536
"""Bytes of a request line and its headers, to within what arrives at once."""


class HeaderLimit(HttpToolsProtocol):
    """Uvicorn's HTTP protocol, with a limit on the size of a request's head."""

    _head = -1  # bytes of the head that is being read; -1 between heads

    def on_message_begin(self) -> None:
        """Start counting the bytes of a head."""
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop counting."""
        self._head = -1
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Parse incoming data, and refuse a head that is too large."""
        super().data_received(data)
        if self._head >= 0 and not self.transport.is_closing():
            self._head += len(data)
            if self._head > LARGEST_HEAD:
                self.send_400_response("Head of the request too large.")
