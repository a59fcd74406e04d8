"""From an address as somebody wrote it to one that may be asked: scheme, login, port, and where its host leads."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

import httpx

from referee.errors import DataError

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


_PORTS = {"http": 80, "https": 443}
_USERINFO = re.compile(r"//[^/?#]*@")
_SECRET = re.compile(r"([?&][^=&#]*(?:key|token|secret|pass|sig|auth|cred)[^=&#]*=)[^&#]*", re.IGNORECASE)
_LONGEST_SHOWN = 300
_BY_HAND = "Open it in a browser, save it, and give the saved file instead."


def scrubbed(url: str) -> str:
    """The address as it may stand in a message: without login, fragment, and values that look like secrets."""
    shown = _SECRET.sub(r"\1...", _USERINFO.sub("//", url.partition("#")[0]))
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."


def server_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an address: what a secret is bound to. What is no address is like no other server."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return url, "", 0


def failure(url: str, cause: str, what: str, *, hint: str = _BY_HAND, status: int | None = None) -> DataError:
    """The error of a page that did not come.

    ``ids`` hold the scrubbed ``url``, the ``cause`` (``refused``, ``network``, ``limit``, ``status``, ``answer``) and,
    with the cause ``status``, the HTTP ``status``.
    """
    ids = {"url": scrubbed(url), "cause": cause}
    if status is not None:
        ids["status"] = str(status)
    return DataError(f"{scrubbed(url)!r} {what}.", hint=hint, ids=ids)


def checked_url(url: str, *, allow_local: bool) -> httpx.URL:
    """The address, parsed; everything is decided on this one reading of it.

    Raises:
        DataError: It is no address, of another scheme than http and https, holds credentials, or names a port that is
            not for web pages.
    """
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError) as error:
        raise failure(url, "refused", "is no web address", hint="Check it for typing errors.") from error
    if parsed.scheme not in _PORTS:
        raise failure(
            url,
            "refused",
            f"has the scheme {parsed.scheme!r}; only http and https are fetched",
            hint="Give an address that begins with https://, or a local file by its path.",
        )
    if not parsed.host:
        raise failure(url, "refused", "names no host", hint="Give the whole address, as https://example.org/page.")
    if parsed.userinfo:
        raise failure(url, "refused", "holds a login; none is ever sent", hint=_BY_HAND)
    if parsed.port not in (None, *_PORTS.values()) and not allow_local:
        raise failure(url, "refused", f"names port {parsed.port}; only 80 and 443 are fetched from", hint=_BY_HAND)
    return parsed.copy_with(fragment=None)


async def checked_addresses(url: httpx.URL, resolver: Resolver, *, allow_local: bool) -> Sequence[str]:
    """The host's addresses, all of them public. One that is not refuses the host: a mixture is a trick or a mistake.

    Raises:
        DataError: The host has no address, or one that nothing is fetched from.
    """
    shown = str(url)
    addresses = await _addresses(url, resolver)
    for address in addresses:
        if reason := refusal_of(address, allow_local=allow_local):
            raise failure(
                shown,
                "refused",
                f"leads to {address}, {reason}; only public addresses are fetched from",
                hint="If you trust it, save the page or file yourself and give its path.",
            )
        if url.port not in (None, *_PORTS.values()) and not ipaddress.ip_address(address).is_loopback:
            raise failure(shown, "refused", f"names port {url.port}; only 80 and 443 are fetched from")
    return addresses


async def _addresses(url: httpx.URL, resolver: Resolver) -> Sequence[str]:
    host = url.raw_host.decode("ascii")
    try:
        return [str(ipaddress.ip_address(host.strip("[]")))]
    except ValueError:
        pass
    try:
        addresses = await resolver(host, url.port or _PORTS[url.scheme])
    except (OSError, UnicodeError) as error:
        raise failure(
            str(url),
            "network",
            f"cannot be reached: no address was found for {host!r}",
            hint=f"Check the name and your network connection. {_BY_HAND}",
        ) from error
    if not addresses:
        raise failure(str(url), "network", f"cannot be reached: {host!r} has no address", hint="Check the name.")
    return addresses
