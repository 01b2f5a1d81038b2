"""A webhook's server with a certificate that tests replace, and clients that trust what they are told."""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO

import msgspec
from aiohttp import ClientSession, TCPConnector
from prometheus_client import CollectorRegistry, generate_latest

from syncret.config.meta import Document
from syncret.config.settings import Webhook
from syncret.daemon.admission.authority import Pair
from syncret.daemon.admission.parts import Sockets, serving
from syncret.daemon.admission.rotation import Certificates, Wanted, rotated
from syncret.daemon.admission.serving_certificate import ServingCertificate
from syncret.daemon.ops.http import listeners_at
from syncret.providers.registry import Registry

HOST = "127.0.0.1"
PATH = "/validate-external-secrets-io-v1-externalsecret"


def fresh(now: float | None = None) -> Certificates:
    return rotated(Certificates(), Wanted((HOST,)), time.time() if now is None else now)


def review(document: object, operation: str = "CREATE") -> bytes:
    request = {"uid": "1", "operation": operation, "object": document}
    return msgspec.json.encode(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    )


def sync(**spec: object) -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "x", "namespace": "shop"},
        "spec": {"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}], **spec},
    }


@dataclass
class Server:
    """A running webhook. `leaf` is what its source holds now."""

    leaf: Pair
    port: int = 0
    probes: int = 0
    metrics: CollectorRegistry = field(default_factory=CollectorRegistry)
    certificate: ServingCertificate = field(init=False)

    async def read(self) -> Pair:
        return self.leaf

    async def post(
        self,
        body: bytes,
        bundle: bytes,
        path: str = PATH,
        *,
        chunked: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Ask as an API server that trusts the bundle, on a connection of its own."""
        context = ssl.create_default_context(cadata=bundle.decode())
        async with ClientSession(connector=TCPConnector(ssl=context)) as session:

            async def pieces() -> AsyncGenerator[bytes]:
                yield body

            data = pieces() if chunked else BytesIO(body)
            url = f"https://{HOST}:{self.port}{path}"
            async with session.post(url, data=data, headers=headers) as answer:
                return answer.status, await answer.read()

    async def is_ready(self) -> tuple[int, str]:
        async with ClientSession() as session, session.get(f"http://{HOST}:{self.probes}/readyz") as answer:
            return answer.status, (await answer.text()).strip()

    def text(self) -> str:
        return generate_latest(self.metrics).decode()


@asynccontextmanager
async def running(leaf: Pair, webhook: Webhook | None = None) -> AsyncGenerator[Server]:
    """The server, until the block is left; it has looked for its certificate once."""
    server = Server(leaf)
    server.certificate = ServingCertificate(
        webhook or Webhook(), server.read, where="the test", name=HOST, now=time.time
    )
    reviews, probes = await listeners_at(f"{HOST}:0"), await listeners_at(f"{HOST}:0")
    server.port, server.probes = (each[0].getsockname()[1] for each in (reviews, probes))
    await server.certificate.refresh()
    try:
        async with serving(Sockets(reviews, probes), server.certificate, Registry(), server.metrics):
            yield server
    finally:
        for each in (*reviews, *probes):
            each.close()
        await asyncio.sleep(0)
