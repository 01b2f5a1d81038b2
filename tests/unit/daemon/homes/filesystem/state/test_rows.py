import tracemalloc
from base64 import b64encode

import msgspec
import pytest

from syncret.config.meta import Document, ref_of
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.filesystem.state.rows import AppliedManifest, pack, stored_of, unpack

VALUE = "hunter2-hunter2"
ESO = "external-secrets.io/v1"
GENERATORS = "generators.external-secrets.io/v1alpha1"


def stored(api_version: str, kind: str, **rest: object) -> StoredObject:
    metadata = {"name": "x", "namespace": "default", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}}
    document: Document = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
    return stored_of(ref_of(document), msgspec.json.encode(document))


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(stored("v1", "Secret", data={"a": b64encode(VALUE.encode()).decode()}), id="secret"),
        pytest.param(stored("v1", "ConfigMap", data={"a": VALUE}), id="config-map"),
        pytest.param(stored("example.com/v1", "Thing", spec={"data": {"a": VALUE}}), id="other-manifest"),
        pytest.param(
            stored(ESO, "SecretStore", spec={"provider": {"fake": {"data": [{"key": "k", "value": VALUE}]}}}),
            id="embedded-store",
        ),
        pytest.param(
            stored(
                ESO, "ClusterSecretStore", spec={"provider": {"delinea": {"clientSecret": {"value": VALUE}}}}
            ),
            id="credential-in-a-store",
        ),
        pytest.param(stored(GENERATORS, "Fake", spec={"data": {"a": VALUE}}), id="fake-generator"),
        pytest.param(
            stored(
                GENERATORS,
                "ClusterGenerator",
                spec={"kind": "Fake", "generator": {"fakeSpec": {"data": {"a": VALUE}}}},
            ),
            id="cluster-generator",
        ),
    ],
)
def test_values_are_taken_out_and_their_lack_is_told(version: StoredObject) -> None:
    row = pack(version, applied=None, output=False)
    assert VALUE.encode() not in row
    assert b64encode(VALUE.encode()) not in row
    record = unpack(row)
    assert record.content_removed
    assert record.version == 7
    assert stored_of(version.ref, bytes(record.document)).uid == "u"


@pytest.mark.parametrize("kind", ["ExternalSecret", "PushSecret", "ClusterExternalSecret", "SecretStore"])
def test_what_holds_no_value_is_remembered_whole(kind: str) -> None:
    version = stored(ESO, kind, spec={"provider": {"vault": {"server": "https://x"}}}, status={"a": 1})
    applied = AppliedManifest(file="/a.yaml", digest="d", keys=("k",))
    record = unpack(pack(version, applied=applied, output=False))
    assert not record.content_removed
    assert record.applied == applied
    assert stored_of(version.ref, bytes(record.document)) == version


def test_a_large_object_of_a_manifest_is_put_back_whole_and_not_searched() -> None:
    """45,000 values of a store took 50 MB and a quarter of a second, each time its status changed."""
    values = [{"key": f"k{n}", "value": VALUE} for n in range(20_000)]
    version = stored(ESO, "SecretStore", spec={"provider": {"fake": {"data": values}}}, status={"a": 1})
    applied = AppliedManifest(file="/a.yaml", digest="d")
    tracemalloc.start()
    try:
        row = pack(version, applied=applied, output=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert VALUE.encode() not in row
    assert peak < 2 * len(version.data)
    record = unpack(row)
    assert record.content_removed
    face = msgspec.json.decode(record.document)
    assert (face["metadata"], face["status"]) == (version.document["metadata"], {"a": 1})
    assert "spec" not in face
