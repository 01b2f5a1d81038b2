"""A Secret that was written or read exists, although the watch has not announced it yet."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Final

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.config.resources.kinds import SECRET
from syncret.daemon.core.ownership import MANAGED
from syncret.daemon.homes.contract import Watch, WatchEventType
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.kit.http import Tls
from syncret.providers.registry import Registry
from tests.support.served import all_to, served

LISTED = WatchEventType.LISTED
METADATA: Final = {"name": "s", "namespace": "n", "labels": {MANAGED: "true"}}
WRITTEN: Final[Document] = {"apiVersion": "v1", "kind": "Secret", "metadata": METADATA}
REF = SECRET.ref("n", "s")


class LateCluster:
    """A cluster whose Secret exists, and whose watch lists nothing, once it may, and then says no more."""

    def __init__(self) -> None:
        self.may_list = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/api/v1":
            kind = {"name": "secrets", "kind": "Secret", "namespaced": True}
            return web.json_response({"resources": [kind]})
        if "/secrets" not in request.path:
            return web.json_response({"kind": "Status", "reason": "NotFound", "code": 404}, status=404)
        if "watch" not in request.query:
            metadata = {**METADATA, "uid": "u", "resourceVersion": "9"}
            return web.json_response({**WRITTEN, "metadata": metadata})
        response = web.StreamResponse()
        await response.prepare(request)
        await self.may_list.wait()
        mark = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
        event = {"type": "BOOKMARK", "object": {"metadata": mark}}
        await response.write(json.dumps(event).encode() + b"\n")
        await asyncio.Event().wait()
        return response


@asynccontextmanager
async def late_home() -> AsyncGenerator[tuple[LateCluster, KubernetesHome]]:
    cluster = LateCluster()
    async with served(all_to(cluster.answer)) as url:
        access = Access(server=url, tls=Tls(), login=FixedHeaders({}))
        async with cluster_home(access, catalog=Registry(), scope=Scope("n")) as home:
            yield cluster, home


async def listed(watch: Watch) -> None:
    """Wait until both streams of Secrets have listed what there was: nothing."""
    async with asyncio.timeout(60):
        while (event := await anext(watch)).group_kind != SECRET.group_kind or event.type is not LISTED:
            pass


async def write(home: KubernetesHome) -> object:
    return await home.create(WRITTEN)


async def read(home: KubernetesHome) -> object:
    return await home.get(REF)


@pytest.mark.parametrize("learn", [write, read])
async def test_a_secret_that_is_still_to_be_announced_is_not_absent(
    learn: Callable[[KubernetesHome], Awaitable[object]],
) -> None:
    async with late_home() as (cluster, home), aclosing(home.watch()) as watch:
        cluster.may_list.set()
        await listed(watch)
        assert home.is_absent(REF)
        await learn(home)
        assert not home.is_absent(REF)


@pytest.mark.parametrize("learn", [write, read])
async def test_nor_is_one_that_became_known_before_anything_was_listed(
    learn: Callable[[KubernetesHome], Awaitable[object]],
) -> None:
    async with late_home() as (cluster, home), aclosing(home.watch()) as watch:
        await learn(home)
        cluster.may_list.set()
        await listed(watch)
        assert not home.is_absent(REF)
