"""ClusterExternalSecret and ClusterPushSecret: children in namespaces that come, change and go."""

from collections.abc import Callable

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import Conflict, Invalid
from tests.unit.daemon.engine.life import HOUR, Life, manifest, namespace
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
