"""Which addresses are public."""

from __future__ import annotations

import ipaddress

import pytest

from bot.toolbox.addresses import is_public


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.32.0.1", "223.255.255.255", "2606:4700::1111",
     "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)  # fmt: skip
def test_the_internet_is(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "0.1.2.3", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.254",
     "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1",
     "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255",
     "::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b:1::1",
     "100::1", "2001::1", "2001:db8::1", "2002:a00:1::1", "2002:a9fe:a9fe::", "3fff::1", "5f00::1", "fc00::1",
     "fd12::1", "fe80::1", "fe80::1%1", "fec0::1", "ff02::1", "ff0e::1"],
)  # fmt: skip
def test_everything_with_a_special_purpose_is_not(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
