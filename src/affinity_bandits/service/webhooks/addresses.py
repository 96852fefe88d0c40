"""Where notices may be sent: URLs that tenants name must not reach the service's own network."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from affinity_bandits.errors import InvalidInput

LONGEST_URL = 2000
NAT64 = ipaddress.ip_network("64:ff9b::/96")
UNICAST = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out for use on the public internet."""
PORTS = {"https": 443, "http": 80}
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(Exception):  # noqa: N818 - reads as the fact it states
    """A host has an address that nothing is sent to."""


@dataclass(frozen=True)
class Target:
    """A URL, taken apart."""

    tls: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """What the header Host says."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return (
            shown if self.port == PORTS["https" if self.tls else "http"] else f"{shown}:{self.port}"
        )


def target_of(url: str, *, private: bool) -> Target:
    """Return what a URL says.

    Args:
        url: as a tenant named it.
        private: whether plain HTTP is allowed, too.

    Raises:
        InvalidInput: it is none that notices are sent to.
    """
    schemes = ("https", "http") if private else ("https",)
    rule = f"a URL that begins with {' or '.join(f'{one}://' for one in schemes)}"
    plain = url.isascii() and url.isprintable() and not set(' "<>\\^`{|}') & set(url)
    if not plain or not 1 <= len(url) <= LONGEST_URL:
        raise InvalidInput("url", f"{rule}, of at most {LONGEST_URL:,} ASCII characters", url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("url", rule, url) from None
    if parts.scheme not in schemes or not parts.hostname:
        raise InvalidInput("url", rule, url)
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidInput("url", f"{rule}, without a user, a password or a fragment", url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme == "https", parts.hostname, port or PORTS[parts.scheme], path)


async def addresses_of(target: Target, *, private: bool) -> list[str]:
    """Return the addresses of a host, as they are now, for a connection that is made to them.

    Raises:
        AddressRefused: one of them is not of the public internet.
        OSError: there is no such host.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = [str(one[4][0]) for one in found]
    if not private and not all(is_public(one) for one in addresses):
        raise AddressRefused
    return addresses


def is_public(text: str) -> bool:
    """Return whether an address is one of the public internet, in whatever it is wrapped.

    >>> is_public("1.1.1.1"), is_public("169.254.169.254"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    address: Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo is not None:
            inner = address.teredo[1]
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        # All else that wraps IPv4 or is for a site's own use, and what will be, is outside of it.
        if address not in UNICAST:
            return False
    return address.is_global and not address.is_multicast
