"""ExternalSecret: what is another controller's, and what kinds of objects are written."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import Life, X, fake_store, manifest, secret_ref, store, wanting
from tests.unit.daemon.engine.reconcilers.external_secrets import NO_DATA, SYNCED
from tests.unit.daemon.engine.support import ref


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([store(controller="other"), wanting()], id="its store"),
        pytest.param(
            [
                store(),
                store("t", controller="other"),
                wanting(
                    data=[
                        {"secretKey": "a", "remoteRef": {"key": "k"}},
                        {
                            "secretKey": "b",
                            "remoteRef": {"key": "k"},
                            "sourceRef": {"storeRef": {"name": "t"}},
                        },
                    ]
                ),
            ],
            id="the store of one entry",
        ),
        pytest.param(
            [
                {
                    "apiVersion": "generators.external-secrets.io/v1alpha1",
                    "kind": "Fake",
                    "metadata": {"name": "g", "namespace": "default"},
                    "spec": {"controller": "other", "data": {"a": "b"}},
                },
                manifest(
                    "ExternalSecret",
                    "x",
                    {"dataFrom": [{"sourceRef": {"generatorRef": {"kind": "Fake", "name": "g"}}}]},
                ),
            ],
            id="its generator",
        ),
    ],
)
async def test_what_is_another_controllers_is_left_alone(life: Life, objects: list[Document]) -> None:
    await life.apply(*objects)
    assert await life.status(X) == {}
    assert await life.data("x") is None
    assert life.reads == 0


async def test_a_cluster_store_asks_for_labels_of_the_namespace(life: Life) -> None:
    condition = {"namespaceSelector": {"matchLabels": {"secrets": "yes"}}}
    await life.apply(
        store(namespace="", conditions=[condition]),
        wanting(secretStoreRef={"kind": "ClusterSecretStore", "name": "s"}),
    )
    assert await life.ready(X) == NO_DATA
    namespace = ref("default", kind="Namespace", namespace="")._replace(group="")
    await life.patch(namespace, metadata={"labels": {"secrets": "yes"}})
    assert await life.ready(X) == SYNCED


async def test_other_kinds_are_refused_unless_they_are_allowed(life: Life) -> None:
    await life.apply(store(), wanting(target={"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}))
    assert await life.ready(X) == ("False", "SecretSyncedError", "invalid generic target")
    assert life.reads == 0


async def test_a_config_map_is_written_repaired_and_deleted(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        target = {"deletionPolicy": "Delete", "manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
        await life.apply(store(), wanting(target=target))
        written = secret_ref("x")._replace(kind="ConfigMap")
        assert (await life.existing(written))["data"] == {"a": "v"}
        assert await life.ready(X) == ("True", "ResourceSynced", "secret synced")
        await life.patch(written, data={"a": "forged"})
        assert (await life.existing(written))["data"] == {"a": "v"}
        await life.delete(X)
        assert await life.get(written) is None


async def test_a_config_map_that_somebody_made_immutable_is_left_alone(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        target = {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
        await life.apply(store(), wanting(target=target, refreshInterval="10m"))
        written = secret_ref("x")._replace(kind="ConfigMap")
        await life.patch(written, immutable=True)
        before = await life.existing(written)
        life.manager.values["k"] = "new"
        await life.wait(600)
        assert await life.ready(X) == ("False", "ResourceSyncedError", "could not update secret")
        assert await life.existing(written) == before


async def test_a_binary_value_does_not_fit_a_config_map(clock: Clock) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        data = [{"secretKey": "a", "remoteRef": {"key": "k", "decodingStrategy": "Base64"}}]
        target = {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
        await life.apply(fake_store("s", {"k": "/w=="}), wanting(target=target, data=data))
        assert (await life.ready(X))[:2] == ("False", "ResourceSyncedError")
