"""Resolves host names to the addresses that may be connected to. Only open clients import it."""

import socket
from ipaddress import ip_address

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from syncret.providers.network import Network


class EgressResolver(AbstractResolver):
    """The system's resolver, without the addresses that `egress` denies. Raises Denied if none is left."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._system = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._system.resolve(host, port, family)
        by_address = {ip_address(each["host"].partition("%")[0]): each for each in found}
        allowed = self._network.egress.allowed(host, [*by_address])
        return [by_address[address] for address in allowed]

    async def close(self) -> None:
        await self._system.close()
