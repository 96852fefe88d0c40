"""Network addresses: read from text, and counted as the sources of requests."""

from __future__ import annotations

import ipaddress

_NEIGHBOURS = 64
"""Bits of an IPv6 address that are one customer's: whoever has one address has all the others."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def source_of(host: str) -> str:
    """Return what is counted as one source: an IPv4 address, or a network of IPv6 addresses.

    >>> source_of("2001:db8::17"), source_of("192.0.2.1")
    ('2001:db8::/64', '192.0.2.1')
    """
    if ":" not in host:
        return host
    found = address_of(host)
    if not isinstance(found, ipaddress.IPv6Address):
        return host if found is None else str(found)
    return str(ipaddress.ip_network((found, _NEIGHBOURS), strict=False))


def address_of(text: str) -> Address | None:
    """Return the address that a text is, with or without a port; None if it is none."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
