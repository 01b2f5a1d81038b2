"""All streams as one watch: who waits for it is not disturbed by what is written meanwhile."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

from aiohttp import web

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET, PUSH_SECRET
from syncret.daemon.homes.contract import WatchEventType
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.other_operator.statuses import NoVersions
from syncret.daemon.homes.kubernetes.resources import Resources
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.daemon.homes.kubernetes.watch import ClusterWatch
from syncret.providers.kit.http import Http
from syncret.providers.registry import Registry
from tests.support.served import all_to, served

RESOURCES = {"resources": [{"name": "externalsecrets", "kind": "ExternalSecret", "namespaced": True}]}


@asynccontextmanager
async def watching(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]], intact: dict[ObjectRef, str]
) -> AsyncGenerator[ClusterWatch]:
    async with served(all_to(answer)) as url, Http(url, network=None, parses=False) as http:
        api = ApiServer(http, FixedHeaders({}))
        watch = ClusterWatch(
            api,
            Resources(api, Registry()),
            scope=Scope(),
            intact=intact,
            present=set(),
            on_unknown=lambda _, __: None,
            versions=NoVersions(),
        )
        async with aclosing(watch):
            yield watch


async def test_waiting_for_own_writes_goes_on_while_there_are_more() -> None:
    written = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response(RESOURCES)
        response = web.StreamResponse()
        await response.prepare(request)
        for version, annotations in (("7", {"k8s.io/initial-events-end": "true"}), ("8", {})):
            metadata = {"resourceVersion": version, "annotations": annotations}
            event = {"type": "BOOKMARK", "object": {"metadata": metadata}}
            await response.write(json.dumps(event).encode() + b"\n")
            await written.wait()
        await asyncio.Event().wait()
        return response

    kind, other = EXTERNAL_SECRET.group_kind, PUSH_SECRET.group_kind
    intact: dict[ObjectRef, str] = {}
    marks: dict[tuple[GroupKind, bool], str] = {(kind, False): "8"}
    async with watching(answer, intact) as watch:
        watch.follow(kind)
        assert (await anext(watch)).type is WatchEventType.LISTED
        waiter = asyncio.create_task(watch.caught_up(marks))
        reader = asyncio.create_task(anext(watch))
        await asyncio.sleep(0)
        marks[other, False] = "9"
        written.set()
        async with asyncio.timeout(60):
            await waiter
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


async def test_what_another_replica_wrote_is_known_once_it_was_told_and_read() -> None:
    kind = EXTERNAL_SECRET.group_kind
    metadata = {"name": "e", "namespace": "n", "uid": "u", "resourceVersion": "9"}

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response(RESOURCES)
        response = web.StreamResponse()
        await response.prepare(request)
        mark = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
        events = (
            {"type": "BOOKMARK", "object": {"metadata": mark}},
            {"type": "ADDED", "object": {"metadata": metadata}},
        )
        for event in events:
            await response.write(json.dumps(event).encode() + b"\n")
        await asyncio.Event().wait()
        return response

    async with watching(answer, {}) as watch:
        watch.follow(kind)
        assert not watch.has_delivered(kind, "7")
        assert (await anext(watch)).type is WatchEventType.LISTED
        (stream,) = watch.streams
        while not stream.has_reached("9"):
            stream.moved.clear()
            await stream.moved.wait()
        assert not watch.has_delivered(kind, "9"), "it waits to be read"
        assert (await anext(watch)).type is WatchEventType.ADDED
        assert watch.has_delivered(kind, "9")
        assert not watch.has_delivered(kind, "10"), "that came before somebody else took over"
