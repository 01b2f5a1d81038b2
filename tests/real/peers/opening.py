"""Opens the stores of both: each on a server of its own."""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry
from tests.real.peers.stores import AUTHORITY, Peer
from tests.suites.providers.rest_harness import RestHarness
from tests.support.servers.cloudru.server import CloudRu
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.grpc import grpc_running
from tests.support.servers.keeper.server import Keeper
from tests.support.servers.onboardbase.server import Onboardbase
from tests.support.servers.onepassword_service.server import OnePassword
from tests.support.servers.rest import running
from tests.support.servers.yandex.face import faced
from tests.support.servers.yandex.server import Yandex

USER: Final = b'{"user":"ada","port":5432,"nested":{"deep":"x"}}'

Call: TypeAlias = Mapping[str, Mapping[str, Json]]
"""What is asked: `get`, `extract` or `find`, each as an ExternalSecret writes it."""


class Store(NamedTuple):
    """An open store: its server runs."""

    peer: Peer
    harness: RestHarness[Any]
    port: int
    variables: Mapping[str, str] = {}
    """The environment that leads the operator's provider, or both, to the server."""
    theirs: Mapping[str, Json] = {}
    """What the operator's manifest says in place of ours."""

    @property
    def lacks(self) -> Mapping[Ability, str]:
        return self.harness.lacks

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that a proxy must lead to the server."""
        return tuple(self.peer.host.split(",")) if self.peer.host else ()

    def provider_of_the_operator(self) -> Document:
        """The provider's part of its manifest."""
        return {self.harness.provider: {**self.harness.spec(), **self.theirs}}

    async def fill(self) -> None:
        """Put there what is asked for."""
        store = self.harness
        await store.seed(Entry(store.key("a"), store.whole("one")))
        if not {Ability.PROPERTY, Ability.MAP} <= self.lacks.keys():
            await store.seed(Entry(store.key("db"), USER))

    def asked(self) -> dict[str, Call]:
        """What both are asked, as far as the provider can."""
        key, always = self.harness.key, self.peer.asks
        asked: dict[str, Call] = {
            "value": {"get": {"key": key("a"), "property": always}},
            "absent": {"get": {"key": key("absent"), "property": always}},
        }
        if Ability.PROPERTY not in self.lacks:
            asked["property"] = {"get": {"key": key("db"), "property": "user"}}
        if Ability.MAP not in self.lacks:
            asked["map"] = {"extract": {"key": key("db")}}
        if Ability.FIND_NAME not in self.lacks:
            asked["find"] = {"find": {"name": {"regexp": "(?i)a$"}}}
        return asked


@asynccontextmanager
async def opened(peer: Peer, folder: Path) -> AsyncGenerator[Store, None]:
    """A store on a server of its own, whose certificate is kept in the folder."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(_serving(peer, folder))
        port = server.port
        if isinstance(server, Keeper | OnePassword):
            server.url = f"https://{peer.host}"
        store = Store(peer, peer.harness(server), port, _variables(server))
        if isinstance(server, Yandex):  # the operator calls the face; we call the REST API
            face = await stack.enter_async_context(faced(server, AUTHORITY))
            store = store._replace(theirs={"apiEndpoint": f"127.0.0.1:{face.port}"})
        yield store


def is_free(port: int) -> bool:
    """Whether a server can be had at this port; 0: at any."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def _serving(peer: Peer, folder: Path) -> AbstractAsyncContextManager[Any]:
    if peer.grpc:
        return grpc_running(peer.server(), AUTHORITY.pair())
    return running(
        peer.server(), AUTHORITY.server(folder, peer.host or "127.0.0.1") if peer.tls else None, peer.port
    )


def _variables(server: object) -> Mapping[str, str]:
    match server:
        case Doppler():
            return {"DOPPLER_BASE_URL": server.url}
        case Onboardbase():
            return {"ONBOARDBASE_ADDRESS": f"{server.url}/api/v1/"}
        case CloudRu():
            address = f"127.0.0.1:{server.port}"
            return {"CLOUDRU_CSM_ADDRESS": address, "CLOUDRU_IAM_ADDRESS": address}
        case Keeper():
            return {"KEEPER_SERVER_PUBLIC_KEY": server.public_key}
        case _:
            return {}
