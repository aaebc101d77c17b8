"""Which addresses a fetch may connect to: the public internet, and nothing that only this machine can reach.

A name is not its address: it may point inside, and point elsewhere a moment later. So nothing is checked beforehand;
the check sits where a socket is made for one address, and that address is what is connected to.
"""

from __future__ import annotations

import ipaddress
import socket

from aiohttp import AddrInfoType

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# IANA's special-purpose registries. `is_global` knows most of them, but which depends on Python's patch version.
_SPECIAL_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15",
        "224.0.0.0/3",
    )
)  # fmt: skip
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
"""All that IANA has given out for the internet."""
_SPECIAL_6 = tuple(ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Carries an IPv4 address in its last 32 bits (RFC 6052)."""


def is_public(address: Address) -> bool:
    """Whether everybody on the internet means the same machine by this address. IPv4 inside IPv6 is unpacked."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in network for network in _SPECIAL_4)
    inner = address.ipv4_mapped or address.sixtofour
    if address in _NAT64:
        inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if inner is not None:
        return is_public(inner)
    return address.is_global and address in _UNICAST_6 and not any(address in network for network in _SPECIAL_6)


class Guard:
    """Makes sockets for aiohttp (`socket_factory`), for public addresses only."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self.refused: list[str] = []
        """The addresses that were asked for and refused."""

    def __call__(self, info: AddrInfoType) -> socket.socket:
        """A socket for one address. Raises OSError, which aiohttp takes for a failed connection."""
        family, kind, protocol, _, target = info
        if not self._allow_private and not is_public(ipaddress.ip_address(target[0])):
            self.refused.append(str(target[0]))
            raise PermissionError(f"{target[0]} is not a public address")
        return socket.socket(family, kind, protocol)
