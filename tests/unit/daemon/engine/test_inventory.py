from collections.abc import Iterable

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.inventory import KEPT, NAMESPACE, Inventory, OwnWrites, is_status_only
from syncret.daemon.engine.reconciler import ANY
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType

GROUP = "external-secrets.io"
EXTERNAL = GroupKind(GROUP, "ExternalSecret")
CLUSTER = GroupKind(GROUP, "ClusterExternalSecret")


def ref(kind: GroupKind, name: str, namespace: str = "") -> ObjectRef:
    return ObjectRef(kind.group, kind.kind, namespace, name)


def stored(of: ObjectRef, version: str = "1", **content: Json) -> StoredObject:
    return StoredObject(ref=of, uid="u", resource_version=version, data=msgspec.json.encode(content))


def uses(each: StoredObject) -> Iterable[ObjectRef]:
    return [ObjectRef(*parts) for parts in each.document.get("uses", ())]


@pytest.fixture
def inventory() -> Inventory:
    return Inventory({EXTERNAL: uses, CLUSTER: uses})


def put(inventory: Inventory, each: StoredObject) -> StoredObject | None:
    return inventory.apply(WatchEvent(WatchEventType.MODIFIED, each))


def drop(inventory: Inventory, each: StoredObject) -> StoredObject | None:
    return inventory.apply(WatchEvent(WatchEventType.DELETED, each))


SECRET = GroupKind("", "Secret")


def test_the_newest_version_is_held(inventory: Inventory) -> None:
    a = ref(EXTERNAL, "a", "x")
    first, second = stored(a, "1"), stored(a, "2")
    assert put(inventory, first) is None
    assert put(inventory, second) is first
    assert inventory.get(a) is second
    assert drop(inventory, second) is second
    assert inventory.get(a) is None
    assert drop(inventory, second) is None


def test_objects_are_listed_by_namespace_and_name(inventory: Inventory) -> None:
    for namespace, name in (("y", "a"), ("x", "b"), ("x", "a")):
        put(inventory, stored(ref(EXTERNAL, name, namespace)))
    names = [(each.ref.namespace, each.ref.name) for each in inventory.list(EXTERNAL)]
    assert names == [("x", "a"), ("x", "b"), ("y", "a")]
    assert [each.ref.name for each in inventory.list(EXTERNAL, "x")] == ["a", "b"]
    assert list(inventory.list(EXTERNAL, "nowhere")) == []
    assert (inventory.count(EXTERNAL), inventory.count(SECRET)) == (3, 0)
    assert repr(inventory) == "<Inventory ExternalSecret=3>"


@pytest.mark.parametrize(
    ("uses", "changed", "expected"),
    [
        pytest.param(["", "Secret", "x", "s"], ref(SECRET, "s", "x"), True, id="by name"),
        pytest.param(["", "Secret", "x", "s"], ref(SECRET, "other", "x"), False, id="another name"),
        pytest.param(["", "Secret", "x", "s"], ref(SECRET, "s", "y"), False, id="another namespace"),
        pytest.param(["", "Secret", "x", "s"], ref(GroupKind("", "ConfigMap"), "s", "x"), False, id="kind"),
        pytest.param(["", "Secret", "x", ANY], ref(SECRET, "new", "x"), True, id="any name"),
        pytest.param(["", "Secret", "x", ANY], ref(SECRET, "new", "y"), False, id="any name, namespace"),
        pytest.param(["", "Secret", ANY, "s"], ref(SECRET, "s", "y"), True, id="any namespace"),
        pytest.param(["", "Secret", ANY, ANY], ref(SECRET, "z", "y"), True, id="any at all"),
        pytest.param(["", "Namespace", "", ANY], ref(NAMESPACE, "new"), True, id="any namespace object"),
    ],
)
def test_dependents(inventory: Inventory, uses: list[str], changed: ObjectRef, *, expected: bool) -> None:
    a = ref(EXTERNAL, "a", "x")
    put(inventory, stored(a, uses=[uses]))
    assert list(inventory.dependents(changed)) == ([a] if expected else [])


def test_dependents_follow_the_newest_version(inventory: Inventory) -> None:
    a, b = ref(EXTERNAL, "a", "x"), ref(EXTERNAL, "b", "x")
    one, two = ["", "Secret", "x", "one"], ["", "Secret", "x", "two"]
    put(inventory, stored(a, uses=[one, one]))
    put(inventory, stored(b, uses=[one, two]))
    assert list(inventory.dependents(ObjectRef(*one))) == [a, b]
    put(inventory, stored(a, uses=[two]))
    assert list(inventory.dependents(ObjectRef(*one))) == [b]
    assert list(inventory.dependents(ObjectRef(*two))) == [b, a]
    drop(inventory, stored(b))
    assert list(inventory.dependents(ObjectRef(*one))) == []
    assert list(inventory.dependents(ObjectRef(*two))) == [a]


def test_each_dependent_is_told_once(inventory: Inventory) -> None:
    a = ref(CLUSTER, "a")
    put(
        inventory,
        stored(a, uses=[["", "Secret", namespace, name] for namespace in ("x", ANY) for name in ("s", ANY)]),
    )
    assert list(inventory.dependents(ref(SECRET, "s", "x"))) == [a]


def test_labels(inventory: Inventory) -> None:
    team = ref(NAMESPACE, "team")
    put(inventory, stored(team, metadata={"labels": {"a": "1"}}))
    put(inventory, stored(ref(NAMESPACE, "bare"), metadata={}))
    put(inventory, stored(ref(SECRET, "s", "team"), metadata={"labels": {"b": "2"}}))
    assert inventory.namespaces == {"team": {"a": "1"}, "bare": {}}
    assert inventory.labels(team) == {"a": "1"}
    assert inventory.labels(ref(SECRET, "s", "team")) == {"b": "2"}
    assert inventory.labels(ref(SECRET, "none", "team")) == {}
    drop(inventory, stored(team))
    assert inventory.namespaces == {"bare": {}}


REF = ObjectRef("", "Secret", "x", "s")
WRITER = ObjectRef("external-secrets.io", "ExternalSecret", "x", "e")
OTHER = WRITER._replace(name="other")


def secret(version: str = "1", uid: str = "u", **document: Json) -> StoredObject:
    metadata = {"name": "s", "generation": 1, "uid": uid, "resourceVersion": version}
    document["metadata"] = metadata | document.get("metadata", {})
    return StoredObject(
        ref=REF,
        uid=uid,
        resource_version=version,
        generation=document["metadata"]["generation"],
        data=msgspec.json.encode(document),
    )


def test_an_echo_is_known_once() -> None:
    echoes = OwnWrites()
    echoes.record(REF, "5", WRITER)
    assert echoes.match(secret("4")) is None
    assert echoes.match(secret("5")) == WRITER
    assert echoes.match(secret("5")) is None
    assert len(echoes) == 0


def test_an_echo_forgets_what_was_written_before_it() -> None:
    echoes = OwnWrites()
    for version, writer in (("1", WRITER), ("2", OTHER), ("3", WRITER)):
        echoes.record(REF, version, writer)
    assert echoes.match(secret("2")) == OTHER
    assert echoes.match(secret("1")) is None
    assert echoes.match(secret("3")) == WRITER


def test_echoes_that_never_come_do_not_pile_up() -> None:
    echoes = OwnWrites()
    for version in range(1000):
        echoes.record(REF, str(version), WRITER)
    assert echoes.match(secret(str(1000 - KEPT - 1))) is None
    echoes.forget(REF)
    assert len(echoes) == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(secret("1"), secret("2", status={"a": 1}), True, id="status"),
        pytest.param(secret("1"), secret("2", metadata={"generation": 2}), False, id="generation"),
        pytest.param(secret("1"), secret("2", metadata={"labels": {"a": "b"}}), False, id="label"),
        pytest.param(secret("1"), secret("2", metadata={"annotations": {"a": "b"}}), False, id="annotation"),
        pytest.param(secret("1"), secret("2", metadata={"finalizers": ["f"]}), False, id="finalizer"),
        pytest.param(secret("1"), secret("2", metadata={"deletionTimestamp": "t"}), False, id="deletion"),
        pytest.param(secret("1"), secret("2", uid="new"), False, id="another life"),
        pytest.param(None, secret("2"), False, id="new"),
        pytest.param(
            secret("1", metadata={"generation": 0}),
            secret("2", metadata={"generation": 0}),
            False,
            id="a kind without generations",
        ),
    ],
)
def test_only_status(before: StoredObject | None, after: StoredObject, *, expected: bool) -> None:
    assert is_status_only(before, after) is expected
