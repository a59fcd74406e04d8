"""Which addresses may be fetched from."""

from __future__ import annotations

import pytest

from referee.web.targets import refusal_of, resolve

PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700::6810:84e5", "2001:4860:4860::8888", "64:ff9b::5db8:d822"]
REFUSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.8.8.8",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:93.184.216.34",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "4000::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "no address",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert refusal_of(address, allow_local=False) == ""


@pytest.mark.parametrize("address", REFUSED)
def test_every_other_address_is_refused_with_a_reason(address: str) -> None:
    assert refusal_of(address, allow_local=False)


@pytest.mark.parametrize("address", [a for a in REFUSED if a not in ("127.0.0.1", "127.8.8.8", "::1")])
def test_only_loopback_passes_where_local_is_allowed(address: str) -> None:
    assert refusal_of(address, allow_local=True)
    assert refusal_of("127.0.0.1", allow_local=True) == ""


@pytest.mark.parametrize("written", ["127.1", "2130706433", "0x7f.0.0.1", "017700000001"])
async def test_odd_spellings_of_loopback_become_loopback_before_they_are_checked(written: str) -> None:
    assert {refusal_of(address, allow_local=False) for address in await resolve(written, 80)} == {"this machine itself"}
