"""What the connections of all clients share: which servers they may reach."""

import asyncio
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address

from syncret.config.addresses import Address, AddressRule, address_of_host, address_rule, effective, host_name
from syncret.providers.errors import Denied


class Egress:
    """The servers that stores and generators may reach: all that `deny` does not name, and all of `allow`.

    A host is judged before anything is sent, its addresses once they are resolved: a name that leads to a
    denied address is not reached, whenever it was changed.
    """

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._entries = (tuple(allow), tuple(deny))

    @cached_property
    def _allow(self) -> list[AddressRule]:
        return [address_rule(entry) for entry in self._entries[0]]

    @cached_property
    def _deny(self) -> list[AddressRule]:
        return [address_rule(entry) for entry in self._entries[1]]

    def check_host(self, host: str) -> None:
        """Judge a name, or an address that stands in place of one. Raises Denied."""
        address = address_of_host(host)
        if address is not None:
            self._check(host, self._denying(address))
        elif not self._allows_name(host):
            self._check(host, next((rule for rule in self._deny if rule.covers_host(host_name(host))), None))

    def allowed(self, host: str, addresses: Sequence[Address]) -> list[Address]:
        """Those of a host's addresses that may be connected to. Raises Denied if that is none of them."""
        if self._allows_name(host):
            return [*addresses]
        denied = [self._denying(effective(address)) for address in addresses]
        if denied and all(denied):
            self._check(host, denied[0], address=str(addresses[0]))
        return [address for address, rule in zip(addresses, denied, strict=True) if rule is None]

    def _denying(self, address: Address) -> AddressRule | None:
        if any(rule.covers_address(address) for rule in self._allow):
            return None
        return next((rule for rule in self._deny if rule.covers_address(address)), None)

    def _allows_name(self, host: str) -> bool:
        return any(rule.covers_host(host_name(host)) for rule in self._allow)

    @staticmethod
    def _check(host: str, rule: AddressRule | None, address: str = "") -> None:
        if rule is None:
            return
        server = f"{host} ({address})" if address else host
        raise Denied(
            f"{server} may not be reached: egress.deny has {rule.text}",
            hint="write it into the setting egress.allow, if stores may reach it",
        )

    def __repr__(self) -> str:
        return (
            f"<Egress allow={[rule.text for rule in self._allow]} deny={[rule.text for rule in self._deny]}>"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Handed to each client that connects to a server."""

    egress: Egress

    async def resolve(self, host: str) -> Address:
        """The first address of a host that may be connected to. Raises Denied, and OSError if it has none."""
        self.egress.check_host(host)
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        addresses = [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
        return self.egress.allowed(host, addresses)[0]
