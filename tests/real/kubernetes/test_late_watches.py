"""I3 on a real API server: of a thousand passwords that are generated once none is drawn again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random

import pytest

from syncret.config.meta import Document
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.providers.kit.http.streams import Stream
from tests.real.kubernetes.test_engine import Cluster, running
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

PASSWORDS = 1000
LATEST = 5.0
SETTLED = 20.0


class LateStream:
    """A watch whose events come up to five seconds late, in their order."""

    def __init__(self, stream: Stream, chance: Random) -> None:
        self._stream = stream
        self._chance = chance

    async def lines(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue()

        async def receive() -> None:
            try:
                async for line in self._stream.lines():
                    waiting.put_nowait((loop.time() + self._chance.uniform(0, LATEST), line))
            finally:
                waiting.put_nowait(None)

        task = asyncio.create_task(receive())
        try:
            while (item := await waiting.get()) is not None:
                await asyncio.sleep(max(0.0, item[0] - loop.time()))
                yield item[1]
            await task  # raises why the stream ended
        finally:
            task.cancel()


async def test_of_a_thousand_passwords_none_is_drawn_again(
    home: KubernetesHome, api: KubeApi, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, watch = Random(1), ApiServer.watch  # noqa: S311  # moments, not keys

    @asynccontextmanager
    async def late(
        self: ApiServer, path: str, *, doing: str, params: Mapping[str, str], accept: str, silence: float
    ) -> AsyncGenerator[LateStream]:
        async with watch(self, path, doing=doing, params=params, accept=accept, silence=silence) as stream:
            yield LateStream(stream, chance)

    monkeypatch.setattr(ApiServer, "watch", late)
    cluster = Cluster(api, namespace)
    cluster.create("passwords", "p", {"length": 24, "noUpper": False, "allowRepeat": True})
    reference = {"apiVersion": "generators.external-secrets.io/v1alpha1", "kind": "Password", "name": "p"}
    source = {"dataFrom": [{"sourceRef": {"generatorRef": reference}}]}
    for number in range(PASSWORDS):
        policy = {"refreshPolicy": "CreatedOnce"} if number % 2 else {"refreshInterval": "24h"}
        cluster.create("externalsecrets", f"e{number}", {**policy, **source})

    def listed(kind: str) -> dict[str, Document]:
        found: list[Document] = api.request("GET", cluster.path(kind)).body["items"]
        return {each["metadata"]["name"]: each for each in found}

    first: dict[str, Document] = {}
    async with running(home), asyncio.timeout(SETTLED + 120):
        end = asyncio.get_running_loop().time() + SETTLED
        while len(first) < PASSWORDS or asyncio.get_running_loop().time() < end:
            for name, secret in (await asyncio.to_thread(listed, "secrets")).items():
                assert first.setdefault(name, secret["data"]) == secret["data"], f"{name} was drawn again"
            await asyncio.sleep(0.2)
        assert home.writes_at_once > 0
    for name, wanted in listed("externalsecrets").items():
        assert wanted["status"]["conditions"][0]["reason"] == "SecretSynced", name
