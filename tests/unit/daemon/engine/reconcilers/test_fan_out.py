"""ClusterExternalSecret and ClusterPushSecret: children in namespaces that come, change and go."""

from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import (
    Conflict,
    Forbidden,
    HomeError,
    Invalid,
    OutcomeUnknown,
    StorageUnavailable,
    StoredObject,
)
from tests.unit.daemon.engine.life import HOUR, Life, Troubled, manifest, namespace
from tests.unit.daemon.engine.support import GROUP, ref

CHILD: Document = {
    "secretStoreRef": {"name": "s"},
    "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
}
Make = Callable[..., Document]
BLUE = {"matchLabels": {"team": "blue"}}
CES = ref("c", kind="ClusterExternalSecret", namespace="")
CPS = ref("c", kind="ClusterPushSecret", namespace="")
READY = [{"type": "Ready", "status": "True"}]
FAILED = [{"type": "Ready", "status": "False", "message": "one or more namespaces failed"}]


def everywhere(**spec: Json) -> Document:
    """A ClusterExternalSecret for the namespaces of the blue team."""
    whole = {"externalSecretSpec": CHILD, "namespaceSelectors": [BLUE], **spec}
    return manifest("ClusterExternalSecret", "c", whole, namespace="")


def pushed_everywhere(**spec: Json) -> Document:
    """A ClusterPushSecret for the namespaces of the blue team."""
    child = {"secretStoreRefs": [{"name": "s"}], "selector": {"secret": {"name": "q"}}}
    whole = {"pushSecretSpec": child, "namespaceSelectors": [BLUE], **spec}
    return manifest("ClusterPushSecret", "c", whole, namespace="")


def child(where: str, name: str = "c", kind: str = "ExternalSecret") -> ObjectRef:
    return ref(name, kind=kind, namespace=where)


def space(name: str) -> ObjectRef:
    return ObjectRef("", "Namespace", "", name)


async def test_a_child_in_every_namespace_that_is_chosen(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), namespace("two", team="blue"), namespace("red"))
    await life.apply(everywhere())
    assert await life.status(CES) == {
        "externalSecretName": "c",
        "provisionedNamespaces": ["one", "two"],
        "conditions": READY,
    }
    made = await life.existing(child("one"))
    assert made["spec"]["data"][0]["secretKey"] == "a"
    assert [owner["kind"] for owner in made["metadata"]["ownerReferences"]] == ["ClusterExternalSecret"]
    assert await life.get(child("red")) is None


@pytest.mark.parametrize(
    ("spec", "chosen"),
    [
        pytest.param({"namespaceSelectors": [], "namespaces": ["red", "none"]}, ["red"], id="by name"),
        pytest.param(
            {"namespaceSelectors": [], "namespaceSelector": BLUE}, ["one"], id="the single selector"
        ),
        pytest.param({"namespaces": ["red"]}, ["one", "red"], id="names and selectors"),
        pytest.param({"namespaceSelectors": []}, [], id="none"),
    ],
)
async def test_ways_to_choose(life: Life, spec: Document, chosen: list[str]) -> None:
    await life.apply(namespace("one", team="blue"), namespace("red"), everywhere(**spec))
    assert (await life.status(CES)).get("provisionedNamespaces", []) == chosen


async def test_namespaces_come_change_and_go(life: Life) -> None:
    await life.apply(everywhere(), namespace("one", team="blue"), namespace("two"))
    assert (await life.status(CES))["provisionedNamespaces"] == ["one"]
    await life.patch(space("two"), metadata={"labels": {"team": "blue"}})
    assert (await life.status(CES))["provisionedNamespaces"] == ["one", "two"]
    await life.patch(space("one"), metadata={"labels": {"team": "red"}})
    assert (await life.status(CES))["provisionedNamespaces"] == ["two"]
    assert await life.get(child("one")) is None
    await life.delete(space("two"))
    assert await life.status(CES) == {"externalSecretName": "c", "conditions": READY}
    assert await life.get(space("two")) is None


async def test_a_child_that_is_changed_or_deleted_is_put_right(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    await life.patch(child("one"), spec={"refreshInterval": "5m"}, metadata={"labels": {"a": "b"}})
    made = await life.existing(child("one"))
    assert made["spec"]["refreshInterval"] == "1h0m0s"
    assert "labels" not in made["metadata"]
    await life.delete(child("one"))
    assert await life.get(child("one")) is not None


async def test_a_new_spec_name_or_annotation_reaches_the_children(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    force = "external-secrets.io/force-sync"
    labels = {"externalSecretMetadata": {"labels": {"a": "b"}}}
    await life.patch(CES, metadata={"annotations": {force: "1"}}, spec=labels)
    metadata = (await life.existing(child("one")))["metadata"]
    assert metadata["annotations"] == {force: "1"}
    assert metadata["labels"] == {"a": "b"}
    await life.patch(CES, spec={"externalSecretName": "d"})
    assert await life.get(child("one")) is None
    assert await life.get(child("one", "d")) is not None
    assert (await life.status(CES))["externalSecretName"] == "d"


async def test_an_object_of_somebody_else_is_not_touched(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), manifest("ExternalSecret", "c", CHILD, namespace="one"))
    before = await life.existing(child("one"))
    await life.apply(everywhere())
    status = await life.status(CES)
    assert status["conditions"] == FAILED
    assert status["failedNamespaces"] == [
        {"namespace": "one", "reason": "external secret already exists in namespace"}
    ]
    assert (await life.existing(child("one")))["spec"] == before["spec"]
    await life.delete(CES)
    assert await life.get(child("one")) is not None


async def test_a_child_that_could_not_be_updated_is_not_forgotten(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    await life.wait(1)
    life.target.troubles["ExternalSecret"] = [Invalid("refused")]
    await life.patch(CES, spec={"externalSecretMetadata": {"labels": {"a": "b"}}})
    assert (await life.status(CES))["failedNamespaces"] == [{"namespace": "one", "reason": "refused"}]
    await life.patch(space("one"), metadata={"labels": {"team": "red"}})
    assert await life.get(child("one")) is None


async def test_a_selector_that_is_none_is_told_and_children_are_kept(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    await life.patch(CES, spec={"namespaceSelectors": [{"matchLabels": {"not a key": "x"}}]})
    status = await life.status(CES)
    assert status["provisionedNamespaces"] == ["one"]
    assert [failure["namespace"] for failure in status["failedNamespaces"]] == ["unknown"]
    await life.patch(CES, spec={"namespaceSelectors": []})
    assert await life.get(child("one")) is None


async def test_a_conflict_is_tried_again_at_once(life: Life) -> None:
    await life.apply(namespace("one", team="blue"))
    life.target.troubles["ExternalSecret"] = [Conflict("modified")]
    await life.apply(everywhere())
    assert (await life.status(CES))["conditions"] == READY


async def test_its_children_go_with_it(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    await life.delete(CES)
    assert await life.get(CES) is None
    assert await life.get(child("one")) is None


async def test_it_looks_again_at_its_interval(life: Life) -> None:
    await life.apply(everywhere(refreshTime="10m"))
    runs = life.runs("c", "ClusterExternalSecret")
    await life.wait(HOUR)
    assert life.runs("c", "ClusterExternalSecret") == runs + 6


@pytest.mark.parametrize("bad", ["soon", "-5s", "1d", ""])
@pytest.mark.parametrize(("make", "whose"), [(everywhere, CES), (pushed_everywhere, CPS)])
async def test_a_malformed_interval_is_none(life: Life, make: Make, whose: ObjectRef, bad: str) -> None:
    await life.apply(namespace("one", team="blue"), make(refreshTime=bad))
    assert (await life.status(whose))["conditions"] == READY
    runs = life.runs("c", whose.kind)
    await life.wait(HOUR)
    assert life.runs("c", whose.kind) == runs


@pytest.mark.parametrize("whose", [CES, CPS])
async def test_without_a_spec_nothing_is_chosen(life: Life, whose: ObjectRef) -> None:
    await life.apply(manifest(whose.kind, "c", namespace=""))
    assert (await life.status(whose))["conditions"] == READY
    await life.delete(whose)
    assert await life.get(whose) is None


async def test_push_secrets_are_made_likewise(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), pushed_everywhere(pushSecretName="d"))
    made = child("one", "d", "PushSecret")
    assert (await life.existing(made))["apiVersion"] == f"{GROUP}/v1alpha1"
    assert await life.status(CPS) == {
        "pushSecretName": "d",
        "provisionedNamespaces": ["one"],
        "conditions": READY,
    }
    await life.patch(CPS, spec={"pushSecretName": "e"})
    assert await life.get(made) is None
    await life.delete(CPS)
    assert await life.get(child("one", "e", "PushSecret")) is None


async def test_a_push_secret_of_somebody_else_is_not_touched(life: Life) -> None:
    other = pushed_everywhere()["spec"]["pushSecretSpec"]
    await life.apply(namespace("one", team="blue"), manifest("PushSecret", "c", other, namespace="one"))
    await life.apply(pushed_everywhere())
    reason = "push secret already exists in namespace"
    assert (await life.status(CPS))["failedNamespaces"] == [{"namespace": "one", "reason": reason}]


# ------------------------------------------------------------------------------- what wakes it, what it reads
def reads(life: Life, monkeypatch: pytest.MonkeyPatch) -> list[ObjectRef]:
    """Each live read from here on."""
    found: list[ObjectRef] = []
    get = life.cluster.get

    async def counted(ref: ObjectRef) -> StoredObject | None:
        found.append(ref)
        return await get(ref)

    monkeypatch.setattr(life.cluster, "get", counted)
    return found


async def test_a_status_of_a_child_does_not_wake_it(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    runs = life.runs("c", "ClusterExternalSecret")
    before = await life.ready(child("one"))
    store_of_one = manifest("SecretStore", "s", {"provider": {"manager": {}}}, namespace="one")
    await life.apply(store_of_one)
    assert before[0] == "False"
    assert (await life.ready(child("one")))[0] == "True"
    assert life.runs("c", "ClusterExternalSecret") == runs


async def test_a_change_of_a_child_wakes_it(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), everywhere())
    runs = life.runs("c", "ClusterExternalSecret")
    await life.patch(child("one"), spec={"refreshInterval": "5m"})
    assert life.runs("c", "ClusterExternalSecret") == runs + 1


@pytest.mark.parametrize(("make", "whose"), [(everywhere, CES), (pushed_everywhere, CPS)])
async def test_children_that_are_as_they_should_be_are_not_read(
    life: Life, make: Make, whose: ObjectRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    await life.apply(namespace("one", team="blue"), make(refreshTime="1s"))
    runs = life.runs("c", whose.kind)
    found = reads(life, monkeypatch)
    await life.wait(1)
    assert life.runs("c", whose.kind) == runs + 1
    assert found == []


async def test_a_creation_without_an_answer_is_not_repeated(life: Life) -> None:
    await life.apply(namespace("one", team="blue"), namespace("two", team="blue"))
    create, created = life.target.create, list[ObjectRef]()

    async def unanswered(document: Document, *, field_manager: str = "") -> StoredObject:
        stored = await create(document, field_manager=field_manager)
        created.append(stored.ref)
        raise OutcomeUnknown("no answer")

    life.target.create = unanswered  # type: ignore[method-assign]
    await life.apply(everywhere())
    assert (await life.status(CES))["provisionedNamespaces"] == ["one", "two"]
    assert created == [child("one"), child("two")]


# ----------------------------------------------------------------------------------------- what is in the way
FULL = StorageUnavailable("the disk is full")


class Refusing(Troubled):
    """A home that refuses to create or delete children in some namespaces."""

    refused: Mapping[str, HomeError] = {}

    async def create(self, document: Document, *, field_manager: str = "") -> StoredObject:
        self._check(document["metadata"].get("namespace", ""))
        return await super().create(document, field_manager=field_manager)

    async def delete(self, seen: StoredObject) -> StoredObject | None:
        self._check(seen.ref.namespace)
        return await super().delete(seen)

    def _check(self, namespace: str) -> None:
        if namespace in self.refused:
            raise self.refused[namespace]


@pytest.fixture
async def refusing(clock: Clock) -> AsyncIterator[tuple[Life, Refusing]]:
    life = Life(clock)
    life.target = target = Refusing(life.home)
    async with life.running() as running:
        await running.apply(namespace("one", team="blue"), namespace("two", team="blue"))
        yield running, target
        assert not life.bugs


async def test_a_child_that_conflicts_keeps_no_other_from_being_made(
    refusing: tuple[Life, Refusing],
) -> None:
    life, target = refusing
    target.refused = {"one": Conflict("modified")}
    await life.apply(everywhere())
    assert await life.get(child("two")) is not None
    target.refused = {}
    await life.wait(60)
    assert (await life.status(CES))["provisionedNamespaces"] == ["one", "two"]


async def test_a_child_that_the_home_cannot_write_is_tried_again(refusing: tuple[Life, Refusing]) -> None:
    life, target = refusing
    target.refused = {"one": FULL}
    await life.apply(everywhere())
    status = await life.status(CES)
    assert status["provisionedNamespaces"] == ["two"]
    assert status["failedNamespaces"] == [{"namespace": "one", "reason": "the disk is full"}]
    assert life.last_error(CES) == "one: the disk is full"
    target.refused = {}
    await life.wait(60)
    assert (await life.status(CES))["provisionedNamespaces"] == ["one", "two"]
    assert life.last_error(CES) == ""


async def test_a_child_of_a_former_name_is_not_forgotten(refusing: tuple[Life, Refusing]) -> None:
    life, target = refusing
    await life.apply(everywhere())
    target.refused = {"one": FULL}
    await life.patch(CES, spec={"externalSecretName": "d"})
    assert await life.get(child("one")) is not None
    assert await life.get(child("two", "d")) is not None
    target.refused = {}
    await life.wait(60)
    assert await life.get(child("one")) is None
    assert (await life.status(CES))["externalSecretName"] == "d"


async def test_a_namespace_that_is_being_deleted_is_no_failure(refusing: tuple[Life, Refusing]) -> None:
    life, target = refusing
    target.refused = {"one": Forbidden("the namespace is being deleted")}
    await life.apply(everywhere())
    assert await life.status(CES) == {
        "externalSecretName": "c",
        "provisionedNamespaces": ["two"],
        "conditions": READY,
    }
    assert life.controllers.engine.failures(CES) == 0


async def test_what_holds_up_a_deletion_is_reported_until_it_is_over(
    refusing: tuple[Life, Refusing],
) -> None:
    life, target = refusing
    held = everywhere()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await life.apply(held)
    target.refused = {"one": FULL}
    await life.delete(CES)
    assert life.last_error(CES) == "one: the disk is full"
    assert await life.get(child("two")) is None
    target.refused = {}
    await life.wait(60)
    assert await life.get(child("one")) is None
    assert await life.finalizers(CES) == ["example.com/hold"]
    assert life.last_error(CES) == ""
