"""A stream of one kind: listed, resumed, listed anew, and what it tells then."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.daemon.homes.contract import HomeUnusable
from syncret.daemon.homes.kubernetes import streams
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.resources import Resource, Resources
from syncret.daemon.homes.kubernetes.streams import Raw, Stream
from syncret.providers.kit.http import Http
from syncret.providers.kit.retry import Doubling
from syncret.providers.registry import Registry
from tests.support.served import all_to, served

KIND = EXTERNAL_SECRET.group_kind
DISCOVERY: Document = {
    "resources": [
        {"name": "externalsecrets", "kind": "ExternalSecret", "namespaced": True},
        {"name": "externalsecrets/status", "kind": "ExternalSecret", "namespaced": True},
    ]
}


def event(type_: str, name: str, version: int, uid: str = "u") -> Document:
    metadata = {"name": name, "namespace": "n", "uid": uid, "resourceVersion": str(version)}
    return {"type": type_, "object": {"metadata": metadata}}


def bookmark(version: int, *, end: bool = False) -> Document:
    annotations = {"k8s.io/initial-events-end": "true"} if end else {}
    return {
        "type": "BOOKMARK",
        "object": {"metadata": {"resourceVersion": str(version), "annotations": annotations}},
    }


def error(code: int) -> Document:
    return {"type": "ERROR", "object": {"kind": "Status", "code": code, "message": "too old"}}


Answer = list[Document] | int
"""Events of one connection, which ends after them, or a status."""


class Server:
    """Answers each connection in its turn; the last one stays open."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, str]] = []
        self.serves = True
        self.stalls = 0
        """How many of the first connections stay open and say nothing more."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("externalsecrets"):
            return web.json_response(DISCOVERY if self.serves else {"resources": []})
        self.asked.append(dict(request.query))
        answer = self.answers.pop(0) if self.answers else []
        if isinstance(answer, int):
            return web.json_response({"kind": "Status", "code": answer, "message": "no"}, status=answer)
        if "watch" not in request.query:
            return web.json_response(answer[0])
        response = web.StreamResponse()
        await response.prepare(request)
        for each in answer:
            await response.write(json.dumps(each).encode() + b"\n")
        if not self.answers or len(self.asked) <= self.stalls:
            await asyncio.Event().wait()
        return response


class Receiver:
    """Writes down what it is told, and says when there is enough."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._more = asyncio.Event()

    def _tell(self, text: str) -> None:
        self.told.append(text)
        self._more.set()

    async def changed(self, resource: Resource, raw: Raw, *, is_new: bool) -> None:
        assert resource.has_status
        metadata = json.loads(bytes(raw))["metadata"]
        self._tell(f"{'new' if is_new else 'changed'} {metadata['name']}@{metadata['resourceVersion']}")

    async def deleted(self, resource: Resource, ref: ObjectRef, uid: str, version: str) -> None:
        del resource
        self._tell(f"deleted {ref.name}@{version} {uid}")

    async def listed(self) -> None:
        self._tell("listed")

    async def unknown(self, why: str) -> None:
        self._tell(f"unknown {why}")

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(60):
            while len(self.told) < count:
                self._more.clear()
                await self._more.wait()
        return self.told


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PAUSES", Doubling(0.0, 0.0))
    monkeypatch.setattr(streams, "MISSING", 0.0)


Follow = Callable[[Server], Awaitable[tuple[Receiver, Stream]]]


@asynccontextmanager
async def following(server: Server) -> AsyncGenerator[tuple[Receiver, Stream]]:
    receiver = Receiver()
    async with served(all_to(server.answer)) as url, Http(url, network=None, parses=False) as http:
        api = ApiServer(http, FixedHeaders({}))
        stream = Stream(api, Resources(api, Registry()), KIND, receiver)
        task = asyncio.create_task(stream.run())
        try:
            yield receiver, stream
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_what_exists_is_told_before_it_is_listed() -> None:
    server = Server([event("ADDED", "a", 5), bookmark(7, end=True), event("MODIFIED", "a", 8)])
    async with following(server) as (receiver, stream):
        assert await receiver.until(3) == ["new a@5", "listed", "changed a@8"]
        assert stream.has_reached("8")
        assert not stream.has_reached("9")
    assert server.asked[0]["sendInitialEvents"] == "true"
    assert "resourceVersion" not in server.asked[0]


async def test_a_stream_that_ends_resumes_after_its_last_version() -> None:
    server = Server(
        [event("ADDED", "a", 5), bookmark(7, end=True)],
        [event("MODIFIED", "a", 9), bookmark(12)],
        500,
        [event("DELETED", "a", 13)],
    )
    async with following(server) as (receiver, _):
        assert await receiver.until(4) == ["new a@5", "listed", "changed a@9", "deleted a@13 u"]
    assert [each.get("resourceVersion") for each in server.asked] == [None, "7", "12", "12"]


async def test_a_stream_that_stalls_in_silence_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SILENCE", 0.05)
    server = Server([event("ADDED", "a", 1), bookmark(2, end=True)], [event("MODIFIED", "a", 3)])
    server.stalls = 1
    async with following(server) as (receiver, _):
        assert await receiver.until(3) == ["new a@1", "listed", "changed a@3"]
    assert server.asked[1]["resourceVersion"] == "2"


async def test_a_version_that_is_too_old_lists_anew_and_what_is_missing_is_gone() -> None:
    server = Server(
        [
            event("ADDED", "a", 5),
            event("ADDED", "b", 6),
            event("ADDED", "c", 6, "old"),
            bookmark(7, end=True),
        ],
        [error(410)],
        [event("ADDED", "a", 5), event("ADDED", "c", 30, "new"), bookmark(40, end=True)],
    )
    async with following(server) as (receiver, _):
        told = await receiver.until(8)
    assert told[:4] == ["new a@5", "new b@6", "new c@6", "listed"]
    assert told[4:] == ["deleted c@6 old", "changed c@30", "deleted b@40 u", "listed"]


async def test_a_list_that_breaks_off_deletes_nothing() -> None:
    server = Server(
        [event("ADDED", "a", 5), event("ADDED", "b", 6), bookmark(7, end=True)],
        [error(410)],
        [event("ADDED", "a", 5)],
        [event("ADDED", "a", 5), event("ADDED", "b", 6), bookmark(50, end=True)],
    )
    async with following(server) as (receiver, _):
        assert await receiver.until(4) == ["new a@5", "new b@6", "listed", "listed"]
    assert "resourceVersion" not in server.asked[3]


async def test_a_restored_backup_ends_the_home() -> None:
    """Nothing that is known is true then, and versions no longer tell what is newer."""
    server = Server(
        [event("ADDED", "a", 500), bookmark(700, end=True)],
        [error(410)],
        [event("ADDED", "a", 30), bookmark(40, end=True)],
    )
    receiver = Receiver()
    async with served(all_to(server.answer)) as url, Http(url, network=None, parses=False) as http:
        api = ApiServer(http, FixedHeaders({}))
        with pytest.raises(HomeUnusable, match="backup"):
            await asyncio.wait_for(Stream(api, Resources(api, Registry()), KIND, receiver).run(), 60)
    assert "deleted" not in " ".join(receiver.told)


@pytest.mark.parametrize("status", [403, 404])
async def test_what_may_not_be_watched_is_unknown_and_nothing_is_gone(status: int) -> None:
    server = Server(
        [event("ADDED", "a", 5), bookmark(7, end=True)],
        status,
        [event("ADDED", "a", 5), bookmark(8, end=True)],
    )
    async with following(server) as (receiver, stream):
        told = await receiver.until(4)
        assert stream.is_listed
    assert told[:2] == ["new a@5", "listed"]
    assert told[2].startswith("unknown watching ExternalSecret.external-secrets.io: no")
    assert told[3] == "listed"


async def test_a_kind_without_a_crd_is_unknown_until_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncret.daemon.homes.kubernetes.resources.KNOWN_FOR", 0.0)
    server = Server([bookmark(7, end=True)])
    server.serves = False
    async with following(server) as (receiver, _):
        await receiver.until(1)
        assert "CRD" in receiver.told[0]
        server.serves = True
        async with asyncio.timeout(60):
            while "listed" not in receiver.told:
                await receiver.until(len(receiver.told) + 1)


async def test_who_is_to_look_again_while_it_looks_does_so_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "MISSING", 3600.0)
    server = Server([bookmark(7, end=True)])
    server.serves = False
    async with following(server) as (receiver, stream):

        async def unknown(why: str) -> None:
            server.serves = True
            stream.retry_now.set()
            receiver.told.append(why)

        monkeypatch.setattr(receiver, "unknown", unknown)
        told = await receiver.until(2)
    assert told[1] == "listed"


async def test_a_server_that_does_not_list_by_watching_is_listed_in_pages() -> None:
    first = event("ADDED", "a", 5)["object"]
    second = event("ADDED", "b", 6)["object"]
    server = Server(
        400,
        [{"metadata": {"resourceVersion": "7", "continue": "more"}, "items": [first]}],
        [{"metadata": {"resourceVersion": "7"}, "items": [second]}],
        [event("ADDED", "c", 8)],
    )
    async with following(server) as (receiver, _):
        assert await receiver.until(4) == ["new a@5", "new b@6", "listed", "new c@8"]
    assert server.asked[2]["continue"] == "more"
    assert server.asked[3]["resourceVersion"] == "7"


async def test_an_unknown_answer_of_a_proxy_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(502, [bookmark(7, end=True)])
    async with following(server) as (receiver, _):
        assert await receiver.until(1) == ["listed"]
