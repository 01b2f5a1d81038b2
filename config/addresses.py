"""Addresses and hosts as the setting `egress` names them: `10.0.0.0/8`, `vault.example.com`, `link-local`."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_HOST: Final = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")

_GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "all": ("0.0.0.0/0", "::/0"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "loopback": ("127.0.0.0/8", "0.0.0.0/32", "::1/128", "::/128"),
    # Of clouds whose metadata servers are not link-local: Alibaba, Azure (its agent), AWS, Google, Oracle.
    "metadata": (
        "100.100.100.200/32",
        "168.63.129.16/32",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
        "fd00:c1::a9fe:a9fe/128",
    ),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"),
}
GROUPS: Final = tuple(_GROUPS)
"""Names of networks that belong together."""

_NAT64: Final = IPv6Network("64:ff9b::/96")


class AddressRule(NamedTuple):
    """One entry: networks, or a host name (`*.example.com`: all names below it)."""

    text: str
    networks: tuple[Network, ...]
    host: str = ""

    def covers_address(self, address: Address) -> bool:
        """Whether the address is in one of the networks."""
        return any(address in network for network in self.networks if network.version == address.version)

    def covers_host(self, name: str) -> bool:
        """Whether the rule names this host; `name` is as `host_name` returns it."""
        if self.host.startswith("*."):
            return name.endswith(self.host[1:])
        return bool(self.host) and name == self.host


def address_rule(text: str) -> AddressRule:
    """The rule of an entry. Raises ValueError if it is neither a network nor a host nor a group."""
    entry = text.strip().lower()
    if entry in _GROUPS:
        return AddressRule(entry, tuple(ip_network(network) for network in _GROUPS[entry]))
    try:
        return AddressRule(entry, (ip_network(entry.strip("[]"), strict=False),))
    except ValueError:
        host = host_name(entry)
    is_number = host.replace(".", "").replace("/", "").isdecimal()
    if is_number or not _HOST.fullmatch(host):
        raise ValueError("is neither an address, a network, a host nor one of " + ", ".join(GROUPS))
    return AddressRule(entry, (), host)


def host_name(host: str) -> str:
    """The name as it is compared: in lower case, without the dot of the root."""
    return host.lower().rstrip(".")


def address_of_host(host: str) -> Address | None:
    """The address that a host of a URL is itself; None for a name."""
    try:
        return effective(ip_address(host.strip("[]").partition("%")[0]))
    except ValueError:
        return None


def effective(address: Address) -> Address:
    """The IPv4 address that an IPv6 address leads to (mapped, NAT64), or the address."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
