"""Events of objects on virtual time: what is counted, combined, cut off, kept waiting and dropped."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest

from syncret.config.meta import Document
from syncret.config.resources.kinds import (
    CLUSTER_SECRET_STORE,
    EXTERNAL_SECRET,
    PUSH_SECRET,
    SECRET_STORE,
    Kind,
)
from syncret.daemon.homes.contract import (
    AlreadyExists,
    Forbidden,
    HomeError,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
    TooManyRequests,
)
from syncret.daemon.homes.kubernetes.api import NotAllowed
from syncret.daemon.homes.kubernetes.events import GIVES_WAY, MAX_TRIES, MOST_WAITING, Events
from syncret.daemon.homes.kubernetes.traffic import Traffic

pytestmark = pytest.mark.time("virtual")

MIDNIGHT = 1_800_000_000.0


class Server:
    """Keeps Event objects; may fail, hang, or lose an answer."""

    def __init__(self) -> None:
        self.events: dict[str, Document] = {}
        self.requests: list[str] = []
        self.failures: list[HomeError] = []
        self.loses_answers = False
        self.open = asyncio.Event()
        self.open.set()
        self.seconds = 0.01
        self.at_once = 0
        self.most_at_once = 0

    async def create(self, namespace: str, event: Document) -> None:
        await self._request("create")
        name = event["metadata"]["name"]
        if name in self.events:
            raise AlreadyExists(name)
        assert namespace == event["metadata"]["namespace"]
        self.events[name] = event
        self._answer()

    async def patch(self, namespace: str, name: str, changes: Document) -> None:
        del namespace
        await self._request("patch")
        if name not in self.events:
            raise NotFound(name)
        self.events[name] |= changes
        self._answer()

    async def _request(self, verb: str) -> None:
        self.requests.append(verb)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.open.wait()
            await asyncio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        if self.failures:
            raise self.failures.pop(0)

    def _answer(self) -> None:
        if self.loses_answers:
            self.loses_answers = False
            raise OutcomeUnknown("no answer")

    def told(self) -> list[tuple[str, int]]:
        return [(event["message"], event["count"]) for event in self.events.values()]


def seen(
    name: str = "e", *, kind: Kind = EXTERNAL_SECRET, uid: str = "u", version: str = "7"
) -> StoredObject:
    ref = kind.ref("ns" if kind.namespaced else "", name)
    data = msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.kind})
    return StoredObject(ref=ref, uid=uid, resource_version=version, data=data)


def tell(
    events: Events, message: str = "updated", *, warning: bool = False, about: StoredObject | None = None
) -> None:
    reason = "UpdateFailed" if warning else "Updated"
    events.record(about or seen(), warning=warning, reason=reason, message=message)


@asynccontextmanager
async def running(server: Server, traffic: Traffic | None = None) -> AsyncGenerator[Events]:
    began = asyncio.get_running_loop().time()
    give_way = (traffic or Traffic()).give_way
    events = Events(server, lambda: MIDNIGHT + asyncio.get_running_loop().time() - began, give_way=give_way)
    task = asyncio.create_task(events.run())
    yield events
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_an_event_is_as_kubectl_describe_looks_for_it() -> None:
    server = Server()
    async with running(server) as events:
        tell(events, "could not", warning=True)
        await asyncio.sleep(1)
    (event,) = server.events.values()
    name = event["metadata"].pop("name")
    assert name.startswith("e.")
    assert len(name) == len("e.") + 16
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": "ns"},
        "involvedObject": {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "namespace": "ns",
            "name": "e",
            "uid": "u",
            "resourceVersion": "7",
        },
        "type": "Warning",
        "reason": "UpdateFailed",
        "message": "could not",
        "source": {"component": "external-secrets"},
        "reportingComponent": "external-secrets",
        "count": 1,
        "firstTimestamp": "2027-01-15T08:00:00Z",
        "lastTimestamp": "2027-01-15T08:00:00Z",
    }


@pytest.mark.parametrize(
    ("kind", "namespace", "component"),
    [
        (PUSH_SECRET, "ns", "pushsecret"),
        (SECRET_STORE, "ns", "secret-store"),
        (CLUSTER_SECRET_STORE, "default", "cluster-secret-store"),
    ],
    ids=lambda value: str(getattr(value, "kind", value)),
)
async def test_who_reports_and_where(kind: Kind, namespace: str, component: str) -> None:
    server = Server()
    async with running(server) as events:
        tell(events, about=seen(kind=kind))
        await asyncio.sleep(1)
    (event,) = server.events.values()
    assert (event["metadata"]["namespace"], event["source"]["component"]) == (namespace, component)


async def test_an_equal_event_raises_the_count_within_ten_minutes() -> None:
    server = Server()
    async with running(server) as events:
        for _ in range(3):
            tell(events)
            await asyncio.sleep(590)
        assert server.told() == [("updated", 3)]
        assert server.requests == ["create", "patch", "patch"]
        await asyncio.sleep(20)
        tell(events)
        await asyncio.sleep(1)
    assert server.told() == [("updated", 3), ("updated", 1)]


async def test_what_repeats_while_it_waits_is_one_request() -> None:
    server = Server()
    server.open.clear()
    async with running(server) as events:
        for _ in range(20):
            tell(events)
            await asyncio.sleep(0.001)
        server.open.set()
        await asyncio.sleep(1)
    assert server.told() == [("updated", 20)]
    assert server.requests == ["create", "patch"]


async def test_similar_events_are_combined_after_ten() -> None:
    server = Server()
    async with running(server) as events:
        for number in range(14):
            tell(events, f"cause {number}", warning=True)
            await asyncio.sleep(1)
        tell(events, "cause 3", warning=True)
        await asyncio.sleep(1)
        told = server.told()
        assert len(told) == 11
        assert told[-1] == ("(combined from similar events): cause 13", 4)
        assert told[3] == ("cause 3", 2), "it is known by itself"
        await asyncio.sleep(601)
        tell(events, "cause 20", warning=True)
        await asyncio.sleep(1)
    assert server.told()[-1] == ("cause 20", 1)


async def test_one_object_tells_so_much_and_no_more() -> None:
    server = Server()
    other = seen("other", uid="v")
    async with running(server) as events:
        for _ in range(40):
            tell(events)
        tell(events, about=other)
        await asyncio.sleep(1)
        assert server.told() == [("updated", 25), ("updated", 1)]
        assert events.stats.events_dropped == 15
        await asyncio.sleep(300)
        tell(events)
        tell(events)
        await asyncio.sleep(1)
    assert server.told()[0] == ("updated", 26)
    assert events.stats.events_dropped == 16


async def test_two_requests_at_once_and_an_outage_keeps_warnings() -> None:
    server = Server()
    server.open.clear()
    async with running(server) as events:
        tell(events, about=seen("first"))
        tell(events, about=seen("second"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for number in range(MOST_WAITING):
            tell(events, warning=number < 10, about=seen(f"e{number}"))
        tell(events, about=seen("one-more"))
        tell(events, about=seen("another"))
        assert events.stats.events_dropped == 2
        server.open.set()
        await asyncio.sleep(600)
    names = {event["involvedObject"]["name"] for event in server.events.values()}
    assert len(names) == MOST_WAITING + 2
    assert {"e0", "e9", "one-more", "another"} <= names
    assert not {"e10", "e11"} & names, "the oldest that warned of nothing"
    assert server.most_at_once == 2


async def test_events_give_way_to_writes_for_a_while() -> None:
    server, traffic = Server(), Traffic()
    async with running(server, traffic) as events:
        with traffic.writing():
            with traffic.writing():
                tell(events, about=seen("first"))
                await asyncio.sleep(1)
            await asyncio.sleep(1)
            assert not server.requests
        await asyncio.sleep(1)
        assert len(server.events) == 1
        with traffic.writing():
            tell(events, about=seen("second"))
            await asyncio.sleep(GIVES_WAY - 0.5)
            assert len(server.events) == 1
            await asyncio.sleep(1)
            assert len(server.events) == 2, "a cluster where something is always written hears of them, too"


async def test_what_is_refused_for_now_is_tried_again() -> None:
    server = Server()
    server.failures = [
        TooManyRequests("later", retry_after=7.0),
        StorageUnavailable("away"),
        OutcomeUnknown("no answer"),
    ]
    async with running(server) as events:
        tell(events)
        await asyncio.sleep(60)
    assert server.told() == [("updated", 1)]
    assert events.stats.events_dropped == 0


async def test_an_event_whose_answer_was_lost_is_there_once() -> None:
    server = Server()
    server.loses_answers = True
    async with running(server) as events:
        tell(events)
        await asyncio.sleep(60)
        tell(events)
        await asyncio.sleep(1)
    assert server.told() == [("updated", 2)]


async def test_one_that_the_server_has_forgotten_is_made_again() -> None:
    server = Server()
    async with running(server) as events:
        tell(events)
        await asyncio.sleep(1)
        server.events.clear()
        tell(events)
        await asyncio.sleep(1)
    assert server.told() == [("updated", 2)]


@pytest.mark.parametrize("refusal", [Forbidden("its namespace is going away"), NotAllowed("no right")])
async def test_what_is_refused_for_good_is_dropped(refusal: HomeError) -> None:
    server = Server()
    server.failures = [refusal]
    async with running(server) as events:
        tell(events)
        await asyncio.sleep(600)
        assert (server.requests, events.stats.events_dropped) == (["create"], 1)
        tell(events, "another")
        await asyncio.sleep(1)
    assert server.told() == [("another", 1)]


async def test_an_outage_that_does_not_end_is_given_up() -> None:
    server = Server()
    server.failures = [StorageUnavailable("away")] * MAX_TRIES
    async with running(server) as events:
        tell(events)
        await asyncio.sleep(600)
        assert events.stats.events_dropped == 1
        tell(events, "another")
        await asyncio.sleep(1)
    assert server.told() == [("another", 1)]


async def test_the_end_waits_a_moment_for_what_is_left() -> None:
    server = Server()
    events = Events(server, lambda: MIDNIGHT)
    tell(events)
    await events.flush()
    assert server.told() == [("updated", 1)]
    server.open.clear()
    tell(events, "never")
    tell(events, "either")
    began = asyncio.get_running_loop().time()
    await events.flush()
    assert asyncio.get_running_loop().time() - began < 3


async def test_a_slow_server_is_told_at_the_end_what_still_waits() -> None:
    """On a busy machine an event takes a third of a second: two lanes were behind by dozens."""
    server = Server()
    server.seconds = 0.3
    events = Events(server, lambda: MIDNIGHT)
    for number in range(60):
        tell(events, about=seen(f"e{number}"))
    await events.flush()
    assert len(server.events) == 60
    assert events.stats.events_dropped == 0


async def test_what_was_under_way_at_the_end_is_not_lost() -> None:
    server = Server()
    server.open.clear()
    async with running(server) as events:
        tell(events)
        await asyncio.sleep(1)
    assert server.told() == []
    server.open.set()
    await events.flush()
    assert server.told() == [("updated", 1)]


async def test_a_long_name_and_a_long_message_fit() -> None:
    server = Server()
    async with running(server) as events:
        tell(events, "ä" * 600, about=seen("n" * 235 + "-" * 10 + "n" * 8))
        await asyncio.sleep(1)
    (name,) = server.events
    (event,) = server.events.values()
    assert name.startswith("n" * 235 + ".")
    assert len(name) <= 253
    assert len(event["message"].encode()) <= 1024
    assert event["message"].endswith("...")
