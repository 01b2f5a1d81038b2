from collections.abc import Iterable

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.inventory import NAMESPACE, Change, Inventory, difference
from syncret.daemon.engine.reconciler import ANY, EVERYTHING, Dependency, On
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType

GROUP = "external-secrets.io"
EXTERNAL = GroupKind(GROUP, "ExternalSecret")
CLUSTER = GroupKind(GROUP, "ClusterExternalSecret")


def ref(kind: GroupKind, name: str, namespace: str = "") -> ObjectRef:
    return ObjectRef(kind.group, kind.kind, namespace, name)


def stored(of: ObjectRef, version: str = "1", **content: Json) -> StoredObject:
    return StoredObject(ref=of, uid="u", resource_version=version, data=msgspec.json.encode(content))


def uses(each: StoredObject) -> Iterable[Dependency]:
    return [Dependency(ObjectRef(*parts)) for parts in each.document.get("uses", ())]


@pytest.fixture
def inventory() -> Inventory:
    return Inventory({EXTERNAL: uses, CLUSTER: uses})


def put(inventory: Inventory, each: StoredObject) -> Change | None:
    return inventory.apply(WatchEvent(WatchEventType.MODIFIED, each.ref.group_kind, each))


def drop(inventory: Inventory, each: StoredObject) -> Change | None:
    return inventory.apply(WatchEvent(WatchEventType.DELETED, each.ref.group_kind, each))


SECRET = GroupKind("", "Secret")


def test_the_newest_version_is_held(inventory: Inventory) -> None:
    a = ref(EXTERNAL, "a", "x")
    first, second = stored(a, "1"), stored(a, "2")
    assert put(inventory, first) == Change(a, None, first)
    assert put(inventory, second) == Change(a, first, second)
    assert inventory.get(a) is second
    assert drop(inventory, second) == Change(a, second, None)
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
    put(inventory, stored(a, "2", uses=[two]))
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


REF = ObjectRef(GROUP, "ExternalSecret", "x", "s")


def version_of(version: str = "1", uid: str = "u", **document: Json) -> StoredObject:
    metadata = {"name": "s", "generation": 1, "uid": uid, "resourceVersion": version}
    document["metadata"] = metadata | document.get("metadata", {})
    return StoredObject(
        ref=REF,
        uid=uid,
        resource_version=version,
        generation=document["metadata"]["generation"],
        data=msgspec.json.encode(document),
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(version_of("1"), version_of("2", status={"a": 1}), On(0), id="status"),
        pytest.param(version_of("1"), version_of("2", metadata={"generation": 2}), On.SPEC, id="generation"),
        pytest.param(version_of("1"), version_of("2", metadata={"labels": {"a": "b"}}), On.SPEC, id="label"),
        pytest.param(
            version_of("1"), version_of("2", metadata={"annotations": {"a": "b"}}), On.SPEC, id="annotation"
        ),
        pytest.param(
            version_of("1"), version_of("2", metadata={"finalizers": ["f"]}), On.SPEC, id="finalizer"
        ),
        pytest.param(
            version_of("1"), version_of("2", metadata={"deletionTimestamp": "t"}), On.SPEC, id="deletion"
        ),
        pytest.param(
            version_of("1"),
            version_of("2", status={"conditions": [{"type": "Ready", "status": "True"}]}),
            On.READINESS,
            id="ready",
        ),
        pytest.param(
            version_of("1", status={"conditions": [{"type": "Ready", "status": "True", "reason": "a"}]}),
            version_of("2", status={"conditions": [{"type": "Ready", "status": "True", "reason": "b"}]}),
            On(0),
            id="another reason",
        ),
        pytest.param(
            version_of("1"),
            version_of("2", status={"syncedPushSecrets": {"SecretStore/a": {}}}),
            On.DATA,
            id="what was pushed",
        ),
        pytest.param(version_of("1"), version_of("2", uid="new"), EVERYTHING, id="another uid"),
        pytest.param(None, version_of("2"), EVERYTHING, id="new"),
        pytest.param(
            version_of("1", metadata={"generation": 0}),
            version_of("2", metadata={"generation": 0}),
            On.SPEC | On.READINESS | On.DATA,
            id="a kind without generations",
        ),
        pytest.param(
            version_of("1"),
            version_of("2", status={"conditions": "odd"}),
            EVERYTHING,
            id="a status of another form",
        ),
    ],
)
def test_what_differs(before: StoredObject | None, after: StoredObject, expected: On) -> None:
    assert difference(before, after) == expected


def test_only_dependents_on_what_differs_are_named(inventory: Inventory) -> None:
    inventory.learn(
        EXTERNAL, lambda each: [Dependency(ObjectRef(*parts), On(on)) for *parts, on in each.document["uses"]]
    )
    spec, ready = ref(EXTERNAL, "spec", "x"), ref(EXTERNAL, "ready", "x")
    put(inventory, stored(spec, uses=[["", "Store", "x", "s", On.SPEC]]))
    put(inventory, stored(ready, uses=[["", "Store", "x", ANY, On.READINESS]]))
    store = ObjectRef("", "Store", "x", "s")
    assert list(inventory.dependents(store, On.SPEC)) == [spec]
    assert list(inventory.dependents(store, On.READINESS)) == [ready]
    assert list(inventory.dependents(store, On.DATA)) == []
    assert list(inventory.dependents(store)) == [spec, ready]


def test_an_older_or_equal_version_changes_nothing(inventory: Inventory) -> None:
    assert inventory.record(version_of("10")) is not None
    assert inventory.record(version_of("10")) is None
    assert put(inventory, version_of("9")) is None
    assert drop(inventory, version_of("9")) is None, "what a list lacked is newer than the list"
    held = inventory.get(REF)
    assert held is not None
    assert held.resource_version == "10"


def test_another_uid_replaces_only_if_it_is_newer(inventory: Inventory) -> None:
    inventory.record(version_of("10", uid="new"))
    assert put(inventory, version_of("9", uid="old")) is None
    assert drop(inventory, version_of("9", uid="old")) is None
    assert put(inventory, version_of("11", uid="newest")) is not None


def test_what_was_deleted_here_is_not_revived_by_a_late_event(inventory: Inventory) -> None:
    inventory.record(version_of("5"))
    assert inventory.record_deleted(version_of("5")) is not None
    assert put(inventory, version_of("4")) is None
    assert put(inventory, version_of("6")) is None, "a version of the same uid, whatever its number"
    assert drop(inventory, version_of("6")) is None
    assert inventory.get(REF) is None
    assert put(inventory, version_of("7", uid="new")) is not None


def test_a_deletion_that_comes_first_ends_the_tombstone(inventory: Inventory) -> None:
    inventory.record(version_of("5"))
    inventory.record_deleted(version_of("5"))
    drop(inventory, version_of("6"))
    assert put(inventory, version_of("7", uid="new")) is not None


def test_absence_of_a_kind_that_cannot_be_watched_is_not_known(inventory: Inventory) -> None:
    assert not inventory.is_unknown(EXTERNAL)
    inventory.apply(WatchEvent(WatchEventType.UNKNOWN, EXTERNAL))
    assert inventory.is_unknown(EXTERNAL)
    inventory.apply(WatchEvent(WatchEventType.LISTED, EXTERNAL))
    assert not inventory.is_unknown(EXTERNAL)
