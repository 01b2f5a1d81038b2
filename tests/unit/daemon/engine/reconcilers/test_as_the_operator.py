"""What the operator does to objects of others, and in which order it tries: seen by whoever reads the API."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.core.ownership import created_by
from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import (
    HOUR,
    Life,
    X,
    manifest,
    namespace,
    secret,
    secret_ref,
    store,
    wanting,
)
from tests.unit.daemon.engine.support import ref

MANAGED = "reconcile.external-secrets.io/managed"
CREATED_BY = "reconcile.external-secrets.io/created-by"
HOLDS = "externalsecrets.external-secrets.io/ces-c"
CES = ref("c", kind="ClusterExternalSecret", namespace="")
WIDGET = ObjectRef("example.com", "Widget", "default", "w")


async def labels(life: Life, name: str) -> Document:
    found: Document = (await life.existing(secret_ref(name)))["metadata"].get("labels", {})
    return found


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        pytest.param({"target": {"creationPolicy": "None"}}, "SecretSynced", id="creationPolicy None"),
        pytest.param({"key": "gone"}, "SecretSyncedError", id="nothing to read"),
        pytest.param(
            {"target": {"template": {"data": {"a": "{{ .gone }}"}}}}, "SecretSyncedError", id="bad template"
        ),
        pytest.param({"secretStoreRef": {"name": "none"}}, "SecretSyncedError", id="no store"),
    ],
)
async def test_a_secret_that_is_there_is_marked_before_all_else(
    life: Life, spec: Document, reason: str
) -> None:
    await life.apply(store(), secret("x", {"own": "1"}), wanting(**spec))
    assert await labels(life, "x") == {MANAGED: "true"}
    assert await life.data("x") == {"own": "1"}
    assert (await life.ready(X))[1] == reason


async def test_a_mark_that_was_taken_away_is_no_reason_to_read_again(life: Life) -> None:
    await life.apply(store(), wanting(refreshInterval="1h"))
    await life.patch(secret_ref("x"), metadata={"labels": {MANAGED: None}})
    assert MANAGED in await labels(life, "x")
    assert life.reads == 1


async def test_a_home_of_files_marks_nothing(clock: Clock) -> None:
    async with Life(clock).running(marks=False) as life:
        await life.apply(
            store(),
            secret("x", {"own": "1"}),
            wanting(target={"creationPolicy": "None"}),
            namespace("a"),
            spread_to("a"),
        )
        assert await labels(life, "x") == {}
        assert await finalizers(life, "a") == []


async def test_whatever_carries_the_label_of_the_owner_goes_but_for_the_target(life: Life) -> None:
    await life.apply(store(), wanting())
    label = created_by("default", "x")
    await life.apply(
        secret("copy", {"a": "1"}, labels={CREATED_BY: label}),
        secret("other", {"a": "1"}, labels={CREATED_BY: created_by("default", "y")}),
    )
    await life.wait(HOUR)
    assert await life.data("copy") is None
    assert await life.data("other") == {"a": "1"}
    assert await life.data("x") == {"a": "v"}


async def test_a_target_that_was_renamed_twice_leaves_nothing(life: Life) -> None:
    await life.apply(store(), wanting(target={"name": "one"}))
    await life.apply(secret("two", {"b": "1"}, ownerReferences=[another_owner()]))
    await life.patch(X, spec={"target": {"name": "two"}})
    assert (await life.ready(X))[2] == "target is owned by another ExternalSecret"
    await life.patch(X, spec={"target": {"name": "three"}})
    assert await life.data("one") is None
    assert await life.data("two") == {"b": "1"}
    assert await life.data("three") == {"a": "v"}


def another_owner() -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "name": "another",
        "uid": "u-1",
        "controller": True,
    }


# ---------------------------------------------------------------------------------------- targets of any kind
def widget(**target: Json) -> Document:
    manifest_of = {"apiVersion": "example.com/v1", "kind": "Widget"}
    return wanting(target={"name": "w", "manifest": manifest_of, **target}, refreshInterval="1h")


@pytest.mark.tells_at_once(reason="what a run came to is looked at before the next one")
@pytest.mark.parametrize("policy", ["None", "Merge", "Owner"])
async def test_a_template_is_rendered_even_where_nothing_is_written(clock: Clock, policy: str) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        await life.apply(
            store(), widget(creationPolicy=policy, template={"data": {"a": "{{ fromJson .a | len }}"}})
        )
        failed = ("False", "ResourceSyncedError", "could not apply template to manifest")
        assert await life.ready(X) == failed
        life.manager.values["k"] = "{}"
        await life.wait(60)  # it is tried again: what was wrong may be the data
        assert (await life.ready(X))[0] == "True"
        assert (await life.get(WIDGET) is not None) == (policy == "Owner")


async def test_an_object_without_spec_and_data_has_nothing_to_compare(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        there = {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "w", "namespace": "default"},
        }
        template = {"templateFrom": [{"target": "other.path", "literal": "a: {{ .a }}"}]}
        await life.apply(there, store(), widget(creationPolicy="Merge", template=template))
        assert (await life.ready(X))[2] == "could not apply template to manifest"
        await life.apply(there | {"spec": {"size": 1}})
        await life.wait(HOUR)
        assert (await life.ready(X))[0] == "True"
        assert (await life.existing(WIDGET))["other"] == {"path": {"a": "v"}}


@pytest.mark.parametrize(
    ("target", "literal"),
    [
        pytest.param("metadata.name", "other", id="its name"),
        pytest.param("metadata.namespace", "other", id="its namespace"),
        pytest.param("kind", "Secret", id="its kind"),
        pytest.param("apiVersion", "v1", id="its group"),
        pytest.param("metadata.uid", "other", id="its uid"),
        pytest.param("metadata.ownerReferences", "other", id="its owners"),
        pytest.param("metadata", "labels: {a: b}", id="all its metadata"),
        pytest.param("metadata", "text", id="metadata as a text"),
        pytest.param("metadata.labels", "text", id="labels as a text"),
        pytest.param("metadata.labels", "", id="no labels"),
        pytest.param("metadata.annotations", "[a]", id="annotations as a list"),
    ],
)
async def test_a_path_cannot_make_another_object_of_the_target(
    clock: Clock, target: str, literal: str
) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        written = [{"target": target, "literal": literal}, {"target": "Labels", "literal": "a: b"}]
        await life.apply(store(), widget(template={"templateFrom": written}))
        assert await life.ready(X) == ("False", "ResourceSyncedError", "could not apply template to manifest")
        assert life.target.written == []
        assert life.bugs == []


async def test_a_path_adds_to_the_metadata_of_the_target(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        template = {
            "templateFrom": [
                {"target": "metadata.labels", "literal": "a: b"},
                {"target": "metadata.finalizers", "literal": "[example.com/held]"},
            ]
        }
        await life.apply(store(), widget(template=template))
        metadata = (await life.existing(WIDGET))["metadata"]
        assert (await life.ready(X))[0] == "True"
        assert metadata["labels"].items() >= {"a": "b", MANAGED: "true"}.items()
        assert metadata["finalizers"] == ["example.com/held"]


# ----------------------------------------------------------------------------------------------- namespaces
def spread_to(*names: str) -> Document:
    return manifest(
        "ClusterExternalSecret",
        "c",
        {
            "namespaces": list(names),
            "externalSecretSpec": {
                "secretStoreRef": {"name": "s", "kind": "ClusterSecretStore"},
                "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
            },
        },
        namespace="",
    )


def place(name: str) -> ObjectRef:
    return ObjectRef("", "Namespace", "", name)


async def finalizers(life: Life, name: str) -> list[str]:
    found: list[str] = (await life.existing(place(name)))["metadata"].get("finalizers", [])
    return found


async def test_a_namespace_is_held_while_it_has_a_child(life: Life) -> None:
    await life.apply(store(namespace=""), namespace("a"), namespace("b"), spread_to("a", "b"))
    assert [await finalizers(life, each) for each in ("a", "b")] == [[HOLDS], [HOLDS]]
    assert life.written("Namespace") == []  # finalizers are no output
    await life.patch(CES, spec={"namespaces": ["a"]})
    assert [await finalizers(life, each) for each in ("a", "b")] == [[HOLDS], []]
    await life.delete(CES)
    assert await finalizers(life, "a") == []
    assert await life.get(CES) is None


async def test_a_namespace_that_is_deleted_is_let_go(life: Life) -> None:
    await life.apply(store(namespace=""), namespace("a"), namespace("b"), spread_to("a", "b"))
    await life.delete(place("a"))
    assert await life.get(place("a")) is None
    assert (await life.status(CES))["provisionedNamespaces"] == ["b"]


async def test_a_namespace_with_a_foreign_child_is_not_held(life: Life) -> None:
    own = wanting("c")
    own["metadata"]["namespace"] = "a"
    await life.apply(store(namespace=""), namespace("a"), own, spread_to("a"))
    assert await finalizers(life, "a") == []
    assert (await life.status(CES))["failedNamespaces"][0]["namespace"] == "a"


@pytest.mark.parametrize(
    ("kind", "spec", "condition"),
    [
        pytest.param(
            "ClusterExternalSecret",
            {"externalSecretSpec": {"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}]}},
            {"status": "False", "message": "one or more namespaces failed"},
            id="ClusterExternalSecret",
        ),
        pytest.param(
            "ClusterPushSecret",
            {"pushSecretSpec": {"secretStoreRefs": [{"name": "s"}], "selector": {"secret": {"name": "q"}}}},
            {"status": "False", "reason": "Errored", "message": "failed to get target Namespaces"},
            id="ClusterPushSecret",
        ),
    ],
)
async def test_a_selector_that_makes_no_sense(
    life: Life, kind: str, spec: Document, condition: Document
) -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}
    await life.apply(
        store(namespace=""), manifest(kind, "c", {**spec, "namespaceSelectors": [selector]}, namespace="")
    )
    status = await life.status(ref("c", kind=kind, namespace=""))
    (found,) = status["conditions"]
    assert {key: found[key] for key in condition} == condition
    assert ("failedNamespaces" in status) == (kind == "ClusterExternalSecret")
