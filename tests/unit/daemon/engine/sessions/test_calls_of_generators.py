"""The calls of generators: paced, limited, counted and refused in an outage, as those of stores are."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Json, Model
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import SyncError, Throttled, Unavailable
from syncret.providers.values import SecretBytes
from tests.unit.daemon.engine.life import HOUR, Life, manifest
from tests.unit.daemon.engine.support import ref

GROUP = "generators.external-secrets.io"
REMOTE = "Grafana"
"""A kind that an ExternalSecret may name; the generator of the test answers to it."""
STATES = GroupKind(GROUP, "GeneratorState")


class RoleSpec(Model):
    """The spec of the test's generator."""

    role: str = ""


class Server:
    """Where the test's generator makes things: when each was asked for, and errors to come."""

    def __init__(self) -> None:
        self.generated: list[float] = []
        self.cleaned: list[float] = []
        self.errors: list[SyncError] = []
        self.cleanup_errors: list[SyncError] = []
        self.down: dict[str, bool] = {}

    async def generate(self, spec: RoleSpec, context: OpenContext) -> Generated:
        self.generated.append(asyncio.get_running_loop().time())
        if self.down.get(spec.role):
            raise Unavailable("no answer")
        if self.errors:
            raise self.errors.pop(0)
        return Generated({"token": SecretBytes(b"t")}, {"id": len(self.generated)})

    async def cleanup(self, spec: RoleSpec, state: Document, context: OpenContext) -> None:
        self.cleaned.append(asyncio.get_running_loop().time())
        if self.cleanup_errors:
            raise self.cleanup_errors.pop(0)

    @asynccontextmanager
    async def life(self, clock: Clock, *, local: bool = False, **changes: Json) -> AsyncGenerator[Life]:
        generator = Generator(SpecType(REMOTE, RoleSpec), self.generate, self.cleanup, local=local)
        async with Life(clock, generators=[generator]).running(**changes) as life:
            await life.apply(remote())
            yield life
            assert not life.bugs


@pytest.fixture
def server() -> Server:
    return Server()


def remote(name: str = "g", role: str = "") -> Document:
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": REMOTE,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"role": role},
    }


def cluster_wide() -> Document:
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "ClusterGenerator",
        "metadata": {"name": "g"},
        "spec": {"kind": REMOTE, "generator": {"grafanaSpec": {"role": ""}}},
    }


def drawing(name: str, *, kind: str = REMOTE, generator: str = "g", namespace: str = "default") -> Document:
    """An ExternalSecret that draws."""
    source = {"sourceRef": {"generatorRef": {"kind": kind, "name": generator}}}
    spec: Document = {"dataFrom": [source], "refreshInterval": "1h"}
    return manifest("ExternalSecret", name, spec, namespace=namespace)


async def draw_together(life: Life, *documents: Document) -> None:
    for document in documents:
        await life.cluster.apply(document)
    await life.settle()


def generator_ref(kind: str = REMOTE, namespace: str = "default", name: str = "g") -> ObjectRef:
    return ObjectRef(GROUP, kind, namespace, name)


async def test_calls_of_one_generator_are_paced(clock: Clock, server: Server) -> None:
    async with server.life(clock, requests_per_second=1.0, burst=1.0) as life:
        await draw_together(life, *(drawing(name) for name in "abc"))
        first = server.generated[0]
        assert server.generated == pytest.approx([first, first + 1, first + 2])


@pytest.mark.tells_at_once(reason="the time that calls take is measured")
async def test_generators_have_buckets_of_their_own(clock: Clock, server: Server) -> None:
    async with server.life(clock, requests_per_second=1.0, burst=1.0) as life:
        await draw_together(life, remote("h"), drawing("a"), drawing("b", generator="h"))
        assert server.generated[0] == server.generated[1]


async def test_a_cluster_generator_has_one_bucket_for_all_namespaces(clock: Clock, server: Server) -> None:
    async with server.life(clock, requests_per_second=1.0, burst=1.0) as life:
        everywhere = [drawing("x", kind="ClusterGenerator", namespace=name) for name in ("a", "b")]
        await draw_together(life, cluster_wide(), *everywhere)
        assert server.generated[1] - server.generated[0] == pytest.approx(1)
        for name in ("a", "b"):
            await life.cluster.remove(ref("x", namespace=name))
        await life.settle()
        assert len(server.cleaned) == 2
        assert {call.store for call in life.seen.calls} == {generator_ref("ClusterGenerator", "")}


async def test_clean_ups_of_a_deleted_generator_are_paced(clock: Clock, server: Server) -> None:
    async with server.life(clock, requests_per_second=1.0, burst=1.0) as life:
        await draw_together(life, *(drawing(name) for name in "abc"))
        await life.cluster.remove(generator_ref())
        for name in "abc":
            await life.cluster.remove(ref(name))
        await life.settle()
        first = server.cleaned[0]
        assert server.cleaned == pytest.approx([first, first + 1, first + 2])
        assert await life.cluster.list(STATES) == []


async def test_calls_are_reported_with_kind_and_object(clock: Clock, server: Server) -> None:
    async with server.life(clock) as life:
        await life.apply(drawing("a"))
        await life.delete(ref("a"))
        told = [(call.store, call.provider, call.operation, call.namespace) for call in life.seen.calls]
        assert told == [
            (generator_ref(), REMOTE, "generate", "default"),
            (generator_ref(), REMOTE, "cleanup", "default"),
        ]
        limits = dict(life.controllers.context.sessions.limits())
        assert limits[generator_ref()].calls == 2
        assert dict(life.controllers.context.sessions.in_flight())[generator_ref()] == 0


async def test_what_might_have_been_made_is_not_made_again_at_once(clock: Clock, server: Server) -> None:
    server.errors = [Unavailable("no answer")]
    async with server.life(clock, call_attempts=3, retry_min=60.0) as life:
        await life.apply(drawing("a"))
        assert len(server.generated) == 1
        assert life.seen.retries == 0


async def test_a_clean_up_without_answer_is_repeated(clock: Clock, server: Server) -> None:
    server.cleanup_errors = [Unavailable("no answer")] * 2
    async with server.life(clock, call_attempts=3, retry_min=60.0) as life:
        await life.apply(drawing("a"))
        await life.delete(ref("a"))
        assert len(server.cleaned) == 3
        assert life.seen.retries == 2
        assert not any(reason == "CleanupFailed" for _, _, reason, _ in life.events)


async def test_faults_stand_in_for_calls(clock: Clock, server: Server) -> None:
    async with server.life(clock, retry_min=60.0) as life:
        life.faults = {"generate": "the server is broken"}
        await life.apply(drawing("a"))
        assert server.generated == []
        assert any("the server is broken" in message for *_, message in life.events)


async def test_five_calls_without_answer_are_an_outage_of_that_generator(
    clock: Clock, server: Server
) -> None:
    server.down = {"": True}
    async with server.life(clock, retry_min=60.0) as life:
        await draw_together(life, *(drawing(f"x{number}") for number in range(5)))
        assert len(server.generated) == 5
        await draw_together(life, drawing("late"))
        assert len(server.generated) == 5
        assert any("has not answered 5 times in a row" in message for *_, message in life.events)
        await draw_together(life, remote("h", role="other"), drawing("y", generator="h"))
        assert (await life.ready(ref("y")))[0] == "True"


async def test_a_generator_that_was_changed_is_tried_at_once(clock: Clock, server: Server) -> None:
    server.down = {"": True}
    async with server.life(clock, retry_min=60.0) as life:
        await draw_together(life, *(drawing(f"x{number}") for number in range(5)))
        await life.apply(remote(role="mended"))
        assert {(await life.ready(ref(f"x{number}")))[0] for number in range(5)} == {"True"}


async def test_throttling_closes_the_gate_for_all_who_draw(clock: Clock, server: Server) -> None:
    server.errors = [Throttled("slowly", retry_after=100.0)]
    async with server.life(clock) as life:
        await life.apply(drawing("a"))
        await life.apply(drawing("b"))
        assert len(server.generated) == 1
        await life.wait(HOUR / 2)
        assert server.generated[1] - server.generated[0] >= 100


@pytest.mark.tells_at_once(reason="the time that calls take is measured")
async def test_what_is_made_in_the_process_is_neither_paced_nor_counted(clock: Clock, server: Server) -> None:
    async with server.life(clock, local=True, requests_per_second=1.0, burst=1.0) as life:
        await draw_together(life, *(drawing(name) for name in "abc"))
        assert len(set(server.generated)) == 1
        assert life.seen.calls == []


async def test_what_is_kept_of_generators_is_bounded(clock: Clock, server: Server) -> None:
    async with server.life(clock) as life:
        sessions = life.controllers.context.sessions
        first = sessions.generator_calls(generator_ref(name="first"), REMOTE)
        for number in range(2000):
            sessions.generator_calls(generator_ref(name=f"g{number}"), REMOTE)
            if number == 500:
                assert sessions.generator_calls(generator_ref(name="first"), REMOTE) is first
        kept = dict(sessions.limits())
        assert len(kept) == 1024
        assert generator_ref(name="g1999") in kept
        assert generator_ref(name="first") not in kept
