"""Pushes to Secret Manager and deletes there, beyond what every provider must do."""

from typing import Any

import pytest

from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.google.errors import Conflict
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import SecretBytes
from tests.support.opened import Clock, Given
from tests.support.servers.google.errors import GoogleError
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.stores import opened, seed

OURS: Any = {"managed-by": "external-secrets"}
NAME = "projects/123456789012/secrets/db"
TOPIC = "projects/acme/topics/rotated"


def item(value: bytes = b"one", path: str = "", **spec: Any) -> PushItem:  # noqa: ANN401  # any spec at all
    metadata = {
        "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
        "kind": "PushSecretMetadata",
        "spec": spec,
    }
    return PushItem("db", path, SecretBytes(value), metadata if spec else None, secret_key="k")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, {"labels": OURS, "replication": {"automatic": {}}}, id="plain"),
        pytest.param(
            {"labels": {"team": "a"}, "annotations": {"n": "V"}, "topics": [TOPIC]},
            {
                "labels": {**OURS, "team": "a"},
                "annotations": {"n": "V"},
                "topics": [{"name": TOPIC}],
                "replication": {"automatic": {}},
            },
            id="what stands beside it",
        ),
        pytest.param(
            {"cmekKeyName": "k/1"},
            {
                "labels": OURS,
                "replication": {"automatic": {"customerManagedEncryption": {"kmsKeyName": "k/1"}}},
            },
            id="a key of one's own",
        ),
        pytest.param(
            {"replicationLocation": "us-east1"},
            {"labels": OURS, "replication": {"userManaged": {"replicas": [{"location": "us-east1"}]}}},
            id="one location",
        ),
        pytest.param(
            {
                "replicationLocation": "us-west1",
                "replicationLocations": ["us-east1", "europe-west3"],
                "cmekKeyName": "k/1",
            },
            {
                "labels": OURS,
                "replication": {
                    "userManaged": {
                        "replicas": [
                            {"location": place, "customerManagedEncryption": {"kmsKeyName": "k/1"}}
                            for place in ("us-east1", "europe-west3")
                        ]
                    }
                },
            },
            id="several locations with a key",
        ),
        pytest.param(
            {"labels": {"managed-by": "me"}},
            {"labels": OURS, "replication": {"automatic": {}}},
            id="our label is ours",
        ),
    ],
)
async def test_a_new_secret(
    cloud: Google, given: Given, clock: Clock, spec: dict[str, Any], expected: dict[str, Any]
) -> None:
    async with opened(given, clock) as client:
        await client.push(item(**spec))
        calls = list(cloud.manager.calls)
        await client.push(item(**spec))

    secret = cloud.manager.secrets[NAME]
    assert (secret.config, [version.payload for version in secret.versions]) == (expected, [b"one"])
    assert calls == ["GET secrets", "POST secrets", "POST addVersion"]
    assert cloud.manager.writes == 2, "the second push finds all as it is"


@pytest.mark.parametrize(
    ("spec", "config"),
    [
        pytest.param({}, {"labels": OURS}, id="plain"),
        pytest.param(
            {"cmekKeyName": "k/1", "replicationLocations": ["us-west1"]},
            {"labels": OURS, "customerManagedEncryption": {"kmsKeyName": "k/1"}},
            id="the location is the store's",
        ),
    ],
)
async def test_a_new_regional_secret(
    cloud: Google,
    given: Given,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    spec: dict[str, Any],
    config: dict[str, Any],
) -> None:
    monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER", cloud.urls["us-east1"])
    async with opened(given, clock, location="us-east1") as client:
        await client.push(item(**spec))
        await client.push(item(**spec))

    [secret] = cloud.managers["us-east1"].secrets.values()
    assert secret.name == "projects/123456789012/locations/us-east1/secrets/db"
    assert secret.config == config
    assert cloud.managers["us-east1"].writes == 2


@pytest.mark.parametrize(
    ("before", "spec", "after"),
    [
        pytest.param(
            {"labels": {**OURS, "old": "x"}, "annotations": {"old": "x"}},
            {"labels": {"new": "y"}},
            {"labels": {**OURS, "new": "y"}},
            id="replaced",
        ),
        pytest.param(
            {"labels": {**OURS, "old": "x", "both": "x"}, "annotations": {"old": "x"}},
            {"labels": {"new": "y", "both": "y"}, "annotations": {"new": "y"}, "mergePolicy": "Merge"},
            {"labels": {**OURS, "old": "x", "both": "x", "new": "y"}, "annotations": {"new": "y"}},
            id="merged: labels that are there stay",
        ),
        pytest.param(
            {"labels": OURS, "topics": [{"name": "projects/acme/topics/old"}]},
            {"topics": [TOPIC]},
            {"labels": OURS, "topics": [{"name": TOPIC}]},
            id="topics",
        ),
        pytest.param(
            {"labels": OURS, "topics": [{"name": TOPIC}], "versionAliases": {"stable": "1"}},
            {"labels": {"new": "y"}},
            {
                "labels": {**OURS, "new": "y"},
                "topics": [{"name": TOPIC}],
                "versionAliases": {"stable": "1"},
            },
            id="what is not written stays",
        ),
    ],
)
async def test_what_stands_beside_a_secret_is_changed(
    cloud: Google,
    given: Given,
    clock: Clock,
    before: dict[str, Any],
    spec: dict[str, Any],
    after: dict[str, Any],
) -> None:
    secret = seed(cloud, "db", b"one", **before)
    async with opened(given, clock) as client:
        await client.push(item(**spec))
        await client.push(item(**spec))

    assert secret.config == {**after, "replication": {"automatic": {}}}
    assert (len(secret.versions), cloud.manager.writes) == (1, 1)


@pytest.mark.parametrize(
    ("pushed", "expected", "message"),
    [
        pytest.param(item(path="p", labels={"a": "b"}), Malformed, "metadata and property", id="both"),
        pytest.param(item(tags={"a": "b"}), Malformed, "tags", id="unknown field"),
        pytest.param(item(labels={"Not": "Valid"}), Malformed, "invalid", id="bad label"),
        pytest.param(item(replicationLocations=["the moon"]), Malformed, "invalid", id="bad location"),
        pytest.param(item(b""), Malformed, "is empty", id="no value"),
        pytest.param(item(b"x" * (5 * 2**20)), Malformed, "64 KiB", id="too large"),
    ],
)
async def test_bad_pushes(
    cloud: Google, given: Given, clock: Clock, pushed: PushItem, expected: type[SyncError], message: str
) -> None:
    async with opened(given, clock) as client:
        with pytest.raises(expected, match=message):
            await client.push(pushed)

    assert cloud.manager.writes == 0, "nothing half done is left"


async def test_what_others_made_is_refused(cloud: Google, given: Given, clock: Clock) -> None:
    secret = seed(cloud, "db", b'{"a":"1"}', labels={"managed-by": "terraform"})
    async with opened(given, clock) as client:
        for pushed in (item(), item(path="a"), item(labels={"x": "y"})):
            with pytest.raises(Denied, match="secret db is not managed by external secrets") as caught:
                await client.push(pushed)
            assert "managed-by=external-secrets" in caught.value.hint
        await client.delete(RemoteTarget("db"))
        await client.delete(RemoteTarget("db", "a"))

    assert (secret.config["labels"], len(secret.versions)) == ({"managed-by": "terraform"}, 1)
    assert NAME in cloud.manager.secrets


async def test_a_secret_without_versions_gets_one(cloud: Google, given: Given, clock: Clock) -> None:
    secret = seed(cloud, "db", labels=OURS)
    async with opened(given, clock) as client:
        assert not await client.exists(RemoteTarget("db"))
        await client.push(item(b"one", "user"))

    assert [version.payload for version in secret.versions] == [b'{"user":"one"}']


async def test_properties_keep_what_stands_there(cloud: Google, given: Given, clock: Clock) -> None:
    labels = {**OURS, "team": "a"}
    secret = seed(cloud, "db", b'{"n": 12345678901234567890, "a.b": "x"}', labels=labels)
    async with opened(given, clock) as client:
        await client.push(item(b"x", "a.b"))  # it is there: a name with a dot
        await client.push(item(b"y", "deep.er"))

    assert [version.payload for version in secret.versions[1:]] == [
        b'{"n":12345678901234567890,"a.b":"x","deep":{"er":"y"}}'
    ]
    assert secret.config["labels"] == labels


async def test_a_property_of_what_is_no_json(cloud: Google, given: Given, clock: Clock) -> None:
    seed(cloud, "db", b"plain", labels=OURS)
    async with opened(given, clock) as client:
        with pytest.raises(Malformed):
            await client.push(item(b"x", "a"))

    assert cloud.manager.writes == 0


async def test_with_its_last_property_a_secret_goes(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        await client.push(item(b"1", "a"))
        await client.push(item(b"2", "b"))
        await client.delete(RemoteTarget("db", "none"))
        versions = len(cloud.manager.secrets[NAME].versions)
        await client.delete(RemoteTarget("db", "a"))
        assert NAME in cloud.manager.secrets
        await client.delete(RemoteTarget("db", "b"))

    assert versions == 2
    assert cloud.manager.secrets == {}


async def test_what_exists(cloud: Google, given: Given, clock: Clock) -> None:
    secret = seed(cloud, "db", b'{"a":"1"}', b'{"a":"1"}')
    async with opened(given, clock) as client:
        assert await client.exists(RemoteTarget("db"))
        assert not await client.exists(RemoteTarget("none"))
        secret.versions[1].state = "DISABLED"
        assert await client.exists(RemoteTarget("db")), "an older version can be read"
        secret.versions[0].state = "DESTROYED"
        with pytest.raises(Malformed, match="disabled or destroyed"):
            await client.exists(RemoteTarget("db"))


async def test_concurrent_writes_are_reported(cloud: Google, given: Given, clock: Clock) -> None:
    conflict = GoogleError("ALREADY_EXISTS", "canary")
    async with opened(given, clock) as client:
        fault = cloud.failing(lambda request: conflict.response() if request.method == "POST" else None)
        with fault, pytest.raises(Conflict, match="another program"):
            await client.push(item())
        await client.push(item())

    assert cloud.manager.secrets[NAME].versions[0].payload == b"one"


async def test_a_change_meanwhile_is_not_undone(cloud: Google, given: Given, clock: Clock) -> None:
    secret = seed(cloud, "db", b"one", labels=OURS)

    def interfere(request: object) -> None:
        if getattr(request, "method", "") == "PATCH":
            secret.etag = '"another"'

    async with opened(given, clock) as client:
        with cloud.failing(interfere), pytest.raises(Malformed, match="its state does not allow"):
            await client.push(item(labels={"x": "y"}))

    assert secret.config["labels"] == OURS
