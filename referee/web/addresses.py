"""Which network addresses may be fetched from: those of the public Internet, and no others."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host's name and a port to its addresses; raises ``OSError`` where there are none."""

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Public by their numbers, but answered inside a cloud: Azure's wire server.
_CLOUD_METADATA = frozenset({ipaddress.ip_address("168.63.129.16")})
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_TRANSLATED_IPV4 = ipaddress.ip_network("64:ff9b::/96")
_NEVER_IPV4 = tuple(map(ipaddress.ip_network, ("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24")))
# Carry an IPv4 address of their own (Teredo, 6to4), or stand in examples only.
_NEVER_IPV6 = tuple(map(ipaddress.ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


async def resolve(host: str, port: int) -> Sequence[str]:
    """The host's addresses as the system knows them, each once, in the system's order.

    Raises:
        OSError: The name has no address, or no name server answers.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def refusal_of(address: str, *, allow_local: bool) -> str:
    """Why nothing is fetched from an address, in words; empty for a public one.

    Python's tables are not enough: they differ between its patch releases, count multicast as global, and know no
    cloud's metadata address.

    Args:
        address: An IPv4 or IPv6 address; an IPv6 zone makes it local.
        allow_local: Whether this machine's loopback addresses may pass.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "no IP address"
    if allow_local and ip.is_loopback:
        return ""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _TRANSLATED_IPV4:
            return refusal_of(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)), allow_local=False)
        if ip.ipv4_mapped is not None:
            return "an IPv4 address written as IPv6"
    return _kind(ip)


def _kind(ip: _IPAddress) -> str:
    """The first reason that holds; the order only serves the wording."""
    never = _NEVER_IPV4 if ip.version == 4 else _NEVER_IPV6
    reasons = (
        (ip.is_unspecified, "the unspecified address"),
        (ip.is_loopback, "this machine itself"),
        (ip.is_link_local or ip in _CLOUD_METADATA, "a link-local or cloud metadata address"),
        (ip.is_multicast, "a multicast address"),
        (ip.is_private, "a private address"),
        (ip.is_reserved, "a reserved address"),
        (any(ip in network for network in never), "an address of a special network"),
        (ip.version == 6 and ip not in _GLOBAL_UNICAST, "no public address"),
        (not ip.is_global, "no public address"),
    )
    return next((reason for holds, reason in reasons if holds), "")
