"""Follows the ExternalSecrets of a namespace: when each became ready, how old its value became."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Final

import aiohttp

from bench.clusters.estate import collection, external_secret
from syncret.config.meta import Document, is_list, member
from tests.support.servers.kube.running import ADMIN, KubeApi

_LONGEST: Final = 1800.0
"""Seconds after which what does not become ready is given up."""


class Follower:
    """When each object of a watch became ready and was refreshed, by its name."""

    def __init__(self) -> None:
        self.ready: dict[str, float] = {}
        """When the status of each said for the first time that it is synced."""
        self.refreshed: dict[str, list[float]] = {}
        """When the refreshTime of each changed."""
        self._times: dict[str, str] = {}
        self._changed = asyncio.Event()

    def take(self, line: bytes) -> None:
        """One event of the watch."""
        now = time.perf_counter()
        changed: Document = json.loads(line)["object"]
        name, status = changed["metadata"]["name"], member(changed, "status")
        refreshed = str(status.get("refreshTime") or "")
        if refreshed and self._times.get(name) != refreshed:
            self._times[name] = refreshed
            self.refreshed.setdefault(name, []).append(now)
        conditions = status.get("conditions")
        is_ready = is_list(conditions) and any(
            each["type"] == "Ready" and each["status"] == "True" for each in conditions
        )
        if is_ready and name not in self.ready:
            self.ready[name] = now
        self._changed.set()

    async def until(self, condition: Callable[[], bool], seconds: float = _LONGEST) -> None:
        """Wait until events of the watch make the condition true. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def oldest(self, names: Iterable[str], begin: float, end: float) -> float:
        """The longest time that one of them was not refreshed, in that span."""
        ages = [end - begin]
        for name in names:
            times = [each for each in self.refreshed.get(name, ()) if begin < each < end]
            ages.append(max(after - before for before, after in pairwise([begin, *times, end])))
        return max(ages[1:])


@asynccontextmanager
async def following(api: KubeApi, namespace: str) -> AsyncGenerator[Follower, None]:
    """One watch, until the block is left."""
    follower = Follower()
    url = f"{api.url}{collection(namespace)}?watch=1&timeoutSeconds=3600"
    async with (
        _session(api) as session,
        session.get(url) as answer,
        asyncio.TaskGroup() as group,
    ):

        async def read() -> None:
            async for line in answer.content:
                follower.take(line)

        reading = group.create_task(read())
        yield follower
        reading.cancel()


async def new_objects(
    api: KubeApi, namespace: str, follower: Follower, names: Sequence[tuple[str, str]], pause: float
) -> list[float]:
    """Create an object every so many seconds, each a name and a store: how long until each is ready."""
    begun: dict[str, float] = {}
    async with _session(api) as session:
        for name, store in names:
            begun[name] = time.perf_counter()
            body = json.dumps(external_secret(name, 0, store=store))
            sent = {"Content-Type": "application/json"}
            async with session.post(api.url + collection(namespace), data=body, headers=sent) as answer:
                answer.raise_for_status()
            await asyncio.sleep(pause)
    await follower.until(lambda: begun.keys() <= follower.ready.keys())
    return [follower.ready[name] - begin for name, begin in begun.items()]


def _session(api: KubeApi) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=api.trust),
        headers={"Authorization": f"Bearer {ADMIN}"},
        timeout=aiohttp.ClientTimeout(total=None),
    )
