"""What generators make elsewhere: recorded before it is used, kept while it is, cleaned up for sure."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from itertools import count

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Json, Model
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.core.digest import text_hash
from syncret.daemon.dry_run import dry_run_generator
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import Conflict, OutcomeUnknown, StorageUnavailable, StoredObject
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Denied, SyncError, Unavailable
from syncret.providers.values import SecretBytes
from tests.unit.daemon.engine.life import HOUR, PUSH, Life, X, manifest, secret, secret_ref, store, wanting

KIND = GroupKind("generators.external-secrets.io", "GeneratorState")
FINALIZER = "generatorstate.externalsecrets.io/finalizer"
GRACE = 120
LEASE = "Grafana"
"""A kind that an ExternalSecret may name; the generator of the test answers to it."""


class LeaseSpec(Model):
    """The spec of the test's generator."""

    role: str = ""


class Office:
    """A server that leases credentials: each draw makes one, each clean-up ends one."""

    def __init__(self) -> None:
        self.live: list[int] = []
        self.errors: list[SyncError] = []
        self.cleanups: list[tuple[str, int]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._numbers = count(1)

    async def generate(self, spec: LeaseSpec, context: OpenContext) -> Generated:
        await self.gate.wait()
        number = next(self._numbers)
        self.live.append(number)
        return Generated({"token": SecretBytes(f"token-{number}".encode())}, {"id": number})

    async def cleanup(self, spec: LeaseSpec, state: Document, context: OpenContext) -> None:
        self.cleanups.append((spec.role, state["id"]))
        if self.errors:
            raise self.errors.pop(0)
        if state["id"] in self.live:
            self.live.remove(state["id"])

    def generator(self) -> Generator[LeaseSpec]:
        return Generator(SpecType(LEASE, LeaseSpec), self.generate, self.cleanup)


@pytest.fixture
async def office() -> Office:
    return Office()


@pytest.fixture
async def life(clock: Clock, office: Office) -> AsyncIterator[Life]:
    async with Life(clock, generators=[office.generator()]).running() as life:
        await life.apply(lease())
        yield life
        assert not life.bugs


def lease(role: str = "reader") -> Document:
    return {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": LEASE,
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"role": role},
    }


DRAWS: Document = {"sourceRef": {"generatorRef": {"kind": LEASE, "name": "g"}}}


def drawing(*entries: Document, **spec: Json) -> Document:
    """An ExternalSecret that draws."""
    return manifest("ExternalSecret", "x", {"dataFrom": list(entries or [DRAWS]), **spec})


async def records(life: Life) -> dict[int, str]:
    """The deadline (or nothing) of each record, by the number of its lease."""
    found = [stored.document["spec"] for stored in await life.cluster.list(KIND)]
    return {spec["state"]["id"]: spec.get("garbageCollectionDeadline", "") for spec in found}


async def record_of(life: Life, number: int) -> ObjectRef:
    return next(
        stored.ref
        for stored in await life.cluster.list(KIND)
        if stored.document["spec"]["state"]["id"] == number
    )


async def test_a_record_names_the_generator_the_state_and_the_owner(life: Life) -> None:
    await life.apply(drawing())
    (stored,) = await life.cluster.list(KIND)
    document = stored.document
    assert await life.data("x") == {"token": "token-1"}
    assert stored.ref.name.startswith("gen-externalsecret-x-")
    assert document["metadata"]["finalizers"] == [FINALIZER]
    assert document["metadata"]["labels"] == {
        "generators.external-secrets.io/owner-key": text_hash("ExternalSecret-default-x-0")
    }
    (owner,) = document["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("ExternalSecret", "x")
    assert document["spec"]["state"] == {"id": 1}
    assert document["spec"]["resource"]["kind"] == LEASE
    assert document["spec"]["resource"]["spec"] == {"role": "reader"}
    assert await life.ready(stored.ref) == ("True", "Created", "GeneratorState created")
    assert "token-1" not in json.dumps(document)
    assert life.written("GeneratorState") == []  # bookkeeping, no output


async def test_the_record_stands_before_the_value_is_used(life: Life, office: Office) -> None:
    life.target.troubles["Secret"] = [StorageUnavailable("the disk is full")]
    seen: list[dict[int, str]] = []
    create = life.target.create

    async def create_and_look(document: Document, *, field_manager: str = "") -> object:
        if document["kind"] == "Secret":
            seen.append(await records(life))
        return await create(document, field_manager=field_manager)

    life.target.create = create_and_look  # type: ignore[method-assign,assignment]
    await life.apply(drawing())
    assert seen == [{1: ""}]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"target": {"template": {"data": {"a": "{{ .nothing }}"}}}}, id="template"),
        pytest.param({"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}]}, id="other entry"),
        pytest.param(
            {"dataFrom": [DRAWS | {"rewrite": [{"regexp": {"source": "(", "target": ""}}]}]}, id="rewrite"
        ),
    ],
)
async def test_a_sync_that_fails_gives_back_what_it_drew(life: Life, office: Office, spec: Document) -> None:
    await life.apply(drawing(**{"refreshInterval": "1h", **spec}))
    assert (await life.ready(X))[0] == "False"
    assert office.live == []
    assert office.cleanups == [("reader", 1)]
    assert await records(life) == {}


async def test_a_failed_sync_leaves_the_former_lease_alone(life: Life, office: Office) -> None:
    await life.apply(drawing(refreshInterval="1h"))
    await life.patch(X, spec={"target": {"template": {"data": {"a": "{{ .nothing }}"}}}})
    assert office.live == [1]
    assert await records(life) == {1: ""}
    assert await life.data("x") == {"token": "token-1"}


@pytest.mark.tells_at_once(reason="what a run came to is looked at before the next one")
async def test_a_replaced_lease_lives_for_a_refresh_and_the_grace_period(life: Life, office: Office) -> None:
    await life.apply(drawing(refreshInterval="1h"))
    await life.wait(HOUR)
    assert await life.data("x") == {"token": "token-2"}
    assert await records(life) == {1: "", 2: ""}
    await life.wait(HOUR)
    assert await records(life) == {1: "2026-01-01T02:02:00Z", 2: "", 3: ""}
    await life.wait(GRACE - 1)
    assert office.live == [1, 2, 3]
    await life.wait(1)
    assert office.live == [2, 3]
    assert await records(life) == {2: "", 3: ""}


async def test_the_grace_period_is_a_setting(clock: Clock, office: Office) -> None:
    async with Life(clock, generators=[office.generator()]).running(generator_gc_grace_period=10) as life:
        await life.apply(lease(), drawing(refreshInterval="1h"))
        await life.wait(2 * HOUR + 10)
        assert office.live == [2, 3]


async def test_entries_have_records_of_their_own(life: Life, office: Office) -> None:
    await life.apply(
        drawing(
            DRAWS, DRAWS | {"rewrite": [{"regexp": {"source": "token", "target": "b"}}]}, refreshInterval="1h"
        )
    )
    assert await records(life) == {1: "", 2: ""}
    await life.wait(HOUR)
    assert await records(life) == {1: "", 2: "", 3: "", 4: ""}


async def test_an_entry_that_draws_no_more_gives_up_its_lease(life: Life, office: Office) -> None:
    await life.apply(store(), drawing(refreshInterval="1h"))
    await life.apply(wanting())
    assert list(await records(life)) == [1]
    await life.wait(GRACE)
    assert office.live == []
    assert await records(life) == {}


async def test_the_lease_ends_with_the_external_secret(life: Life, office: Office) -> None:
    await life.apply(drawing(refreshInterval="1h"))
    await life.wait(HOUR)
    await life.delete(X)
    assert office.live == []
    assert await records(life) == {}


async def test_a_clean_up_that_fails_is_told_and_tried_again(life: Life, office: Office) -> None:
    await life.apply(drawing(refreshInterval="1h"))
    record = await record_of(life, 1)
    office.errors = [Unavailable("no answer"), Unavailable("no answer")]
    await life.delete(X)
    assert await life.get(X) is None
    message = "could not cleanup generator state: no answer"
    assert await life.full_ready(record) == ("False", "Error", message)
    assert (record.name, True, "CleanupFailed", message) in life.events
    assert office.live == [1]
    await life.wait(600)
    assert office.live == []
    assert len(office.cleanups) == 3
    assert await life.get(record) is None


async def test_the_generator_as_it_was_cleans_up(life: Life, office: Office) -> None:
    await life.apply(drawing(refreshInterval="1h"))
    await life.apply(lease("writer"))
    await life.delete(lease_ref())
    await life.delete(X)
    assert ("reader", 1) in office.cleanups
    assert office.live == []


def lease_ref() -> ObjectRef:
    return ObjectRef("generators.external-secrets.io", LEASE, "default", "g")


async def test_what_cannot_be_recorded_is_cleaned_up_at_once(life: Life, office: Office) -> None:
    life.target.troubles["GeneratorState"] = [StorageUnavailable("the disk is full")]
    await life.apply(drawing(refreshInterval="1h"))
    assert office.cleanups == [("reader", 1)]
    await life.wait(10)
    assert office.live == [2]
    assert await life.data("x") == {"token": "token-2"}


@pytest.mark.parametrize("is_done", [True, False], ids=["was created", "was not created"])
async def test_a_record_whose_creation_got_no_answer_is_looked_up(
    life: Life, office: Office, *, is_done: bool
) -> None:
    create, left = life.target.create, [OutcomeUnknown("no answer")]

    async def create_silently(document: Document, *, field_manager: str = "") -> StoredObject:
        if document["kind"] != KIND.kind or not left:
            return await create(document, field_manager=field_manager)
        if is_done:
            await create(document, field_manager=field_manager)
        raise left.pop()

    life.target.create = create_silently  # type: ignore[method-assign]
    await life.apply(drawing(refreshInterval="1h"))
    await life.wait(10)
    number = 1 if is_done else 2
    assert office.live == [number]
    assert await records(life) == {number: ""}
    assert await life.data("x") == {"token": f"token-{number}"}


async def test_what_may_be_in_use_is_not_given_back(clock: Clock, office: Office) -> None:
    """The process ends while the Secret is on its way: nobody knows whether it arrives."""
    life = Life(clock, generators=[office.generator()])
    create = life.target.create

    async def create_and_hang(document: Document, *, field_manager: str = "") -> StoredObject:
        stored = await create(document, field_manager=field_manager)
        if document["kind"] == "Secret":
            await asyncio.get_running_loop().create_future()
        return stored

    life.target.create = create_and_hang  # type: ignore[method-assign]
    async with life.running(drain_timeout=0.001):
        await life.cluster.apply(lease())
        await life.cluster.apply(drawing(refreshPolicy="CreatedOnce"))
        await asyncio.sleep(5)
    life.target.create = create  # type: ignore[method-assign]
    async with life.running():
        await life.wait(HOUR)
        assert (await life.ready(X))[0] == "True"
        assert await life.data("x") == {"token": "token-1"}
        assert office.live == [1]


async def test_a_crash_between_record_and_use_leaves_nothing_for_ever(clock: Clock, office: Office) -> None:
    life = Life(clock, generators=[office.generator()])
    async with life.running():
        await life.apply(lease(), drawing(refreshInterval="1h"))
    (stored,) = await life.cluster.list(KIND)
    orphan = stored.document
    orphan["metadata"] = {
        key: orphan["metadata"][key] for key in ("namespace", "labels", "ownerReferences", "finalizers")
    } | {"name": "gen-externalsecret-x-orphan"}
    orphan["spec"]["state"] = {"id": 99}
    office.live.append(99)
    await life.cluster.create(orphan)
    async with life.running():
        await life.wait(3 * HOUR)
        assert 99 not in office.live


async def test_a_generator_that_hangs_is_given_up(life: Life, office: Office) -> None:
    office.gate.clear()
    await life.apply(drawing(refreshInterval="1h"))
    assert (await life.ready(X))[0] == "False"
    assert any('Grafana "g" did not answer within 30 s' in event[3] for event in life.events)
    office.gate.set()
    await life.wait(60)
    assert (await life.ready(X))[0] == "True"


async def test_a_push_secret_records_what_it_draws(life: Life, office: Office) -> None:
    push = manifest(
        "PushSecret",
        "p",
        {
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"generatorRef": {"kind": LEASE, "name": "g"}},
            "data": [{"match": {"secretKey": "token", "remoteRef": {"remoteKey": "r"}}}],
            "refreshInterval": "1h",
        },
    )
    await life.apply(store(), push)
    (stored,) = await life.cluster.list(KIND)
    assert stored.ref.name.startswith("gen-pushsecret-p-")
    labels = stored.document["metadata"]["labels"]
    assert list(labels.values()) == [text_hash("PushSecret-default-p-__pushsecret")]
    await life.wait(2 * HOUR)
    assert sorted(await records(life)) == [1, 2, 3]
    await life.wait(GRACE)
    assert office.live == [2, 3]
    await life.delete(PUSH)
    assert office.live == []


@pytest.mark.tells_at_once(reason="what a run came to is looked at before the next one")
async def test_a_push_whose_template_fails_gives_back(life: Life, office: Office) -> None:
    await life.apply(
        store(),
        manifest(
            "PushSecret",
            "p",
            {
                "secretStoreRefs": [{"name": "s"}],
                "selector": {"generatorRef": {"kind": LEASE, "name": "g"}},
                "template": {"data": {"a": "{{ .nothing }}"}},
                "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "r"}}}],
            },
        ),
    )
    assert office.live == []


async def test_a_generator_without_state_leaves_no_record(life: Life) -> None:
    password = {
        "apiVersion": "generators.external-secrets.io/v1alpha1",
        "kind": "Password",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"length": 8, "noUpper": False, "allowRepeat": True},
    }
    await life.apply(password, drawing({"sourceRef": {"generatorRef": {"kind": "Password", "name": "g"}}}))
    assert (await life.ready(X))[0] == "True"
    assert await life.cluster.list(KIND) == []


async def test_a_rehearsal_keeps_no_lease(office: Office) -> None:
    generator = dry_run_generator(office.generator())
    assert generator.generate is not None
    assert generator.cleanup is not None
    drawn = await generator.generate(LeaseSpec(), None)  # type: ignore[arg-type]  # the test's asks nothing of it
    assert drawn.state is None
    assert office.live == []
    office.live.append(7)
    await generator.cleanup(LeaseSpec(), {"id": 7}, None)  # type: ignore[arg-type]  # as above
    assert office.live == [7]


async def test_a_secret_that_is_pushed_again_gives_up_the_lease(life: Life, office: Office) -> None:
    spec: Document = {
        "secretStoreRefs": [{"name": "s"}],
        "selector": {"generatorRef": {"kind": LEASE, "name": "g"}},
        "data": [{"match": {"secretKey": "token", "remoteRef": {"remoteKey": "r"}}}],
    }
    await life.apply(store(), secret("q", {"token": "t"}), manifest("PushSecret", "p", spec))
    await life.patch(PUSH, spec={"selector": {"generatorRef": None, "secret": {"name": "q"}}})
    await life.wait(GRACE)
    assert office.live == []
    assert await life.get(secret_ref("q")) is not None


async def test_a_bug_in_one_draw_leaves_no_other_draw_behind(clock: Clock, office: Office) -> None:
    """What is drawn after the run has ended would be entered nowhere, and given back by nobody."""
    bugs = [ValueError("a bug")]

    async def generate(spec: LeaseSpec, context: OpenContext) -> Generated:
        if bugs:
            raise bugs.pop()
        return await office.generate(spec, context)

    generator = Generator(SpecType(LEASE, LeaseSpec), generate, office.cleanup)
    async with Life(clock, generators=[generator]).running(retry_min=1.0) as life:
        office.gate.clear()
        await life.apply(lease(), drawing(DRAWS, DRAWS))
        assert [kind for _, kind, _ in life.bugs] == ["ValueError"]
        office.gate.set()
        await life.wait(2)
        assert office.live == [1, 2]
        assert await records(life) == {1: "", 2: ""}


def pushing_generated(**spec: Json) -> Document:
    """A PushSecret that pushes what the generator makes, every hour."""
    whole: Document = {
        "secretStoreRefs": [{"name": "s"}],
        "selector": {"generatorRef": {"kind": LEASE, "name": "g"}},
        "data": [{"match": {"secretKey": "token", "remoteRef": {"remoteKey": "r"}}}],
        **spec,
    }
    return manifest("PushSecret", "p", whole)


async def test_what_a_store_refuses_is_given_back(life: Life, office: Office) -> None:
    life.manager.errors = [Denied("not with this token")] * 9
    await life.apply(store(refreshInterval=36000), pushing_generated())
    await life.wait(GRACE)
    assert (await life.ready(PUSH))[0] == "False"
    assert office.cleanups
    assert office.live == []


async def test_what_a_store_may_have_got_is_kept_and_so_is_what_it_had(life: Life, office: Office) -> None:
    await life.apply(store(), pushing_generated())
    life.faults["push"] = "away"
    await life.wait(3 * HOUR)
    assert 1 in office.live  # it stands at the store
    life.faults.clear()
    await life.wait(HOUR)
    assert (await life.ready(PUSH))[0] == "True"
    await life.wait(HOUR + GRACE)
    assert len(office.live) == 2  # the one that stands there, and the one before


async def test_what_exists_at_the_store_is_not_cleaned_up_for_what_was_not_pushed(
    life: Life, office: Office
) -> None:
    await life.apply(store(), pushing_generated(updatePolicy="IfNotExists"))
    await life.wait(3 * HOUR + GRACE)
    assert life.manager.values["r"] == "token-1"
    assert office.live == [1]


async def test_nothing_is_generated_for_a_store_that_does_not_exist(life: Life, office: Office) -> None:
    await life.apply(pushing_generated())
    assert (await life.ready(PUSH))[2].startswith('could not get SecretStore "s"')
    assert office.cleanups == []


async def test_what_was_cleaned_up_is_not_cleaned_up_again_for_a_finalizer(
    life: Life, office: Office
) -> None:
    await life.apply(drawing())
    record, set_finalizers = await record_of(life, 1), life.target.set_finalizers
    conflicts = [Conflict("modified")] * 3

    async def conflicting(seen: StoredObject, finalizers: Sequence[str]) -> StoredObject:
        if seen.ref == record and conflicts:
            raise conflicts.pop()
        return await set_finalizers(seen, finalizers)

    life.target.set_finalizers = conflicting  # type: ignore[method-assign]
    await life.delete(X)
    assert await life.get(record) is None
    assert office.cleanups == [("reader", 1)]


async def test_the_last_error_of_a_record_goes_once_it_is_cleaned_up(life: Life, office: Office) -> None:
    await life.apply(drawing())
    record = await record_of(life, 1)
    await life.patch(record, metadata={"finalizers": [FINALIZER, "example.com/hold"]})
    office.errors = [Unavailable("away")]
    await life.delete(X)
    error = life.controllers.context.memory.failure(record)
    assert error is not None
    assert error.message == "could not cleanup generator state: away"
    await life.wait(HOUR)
    assert await life.finalizers(record) == ["example.com/hold"]
    assert life.controllers.context.memory.failure(record) is None


async def test_without_records_nothing_is_kept_and_nothing_cleaned_up(clock: Clock, office: Office) -> None:
    async with Life(clock, generators=[office.generator()]).running(generator_state=False) as life:
        await life.apply(lease(), drawing(refreshInterval="1m"))
        assert await life.data("x") == {"token": "token-1"}
        await life.wait(600)
        assert await records(life) == {}
        assert office.cleanups == []
