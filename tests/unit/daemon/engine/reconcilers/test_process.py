"""Kinds that are switched off, and stores that need not be ready."""

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.config.settings import Process
from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import Life, manifest, store, wanting
from tests.unit.daemon.engine.support import GROUP

X = ObjectRef(GROUP, "ExternalSecret", "default", "x")
CLUSTER = {"name": "s", "kind": "ClusterSecretStore"}
CHILDREN = {"namespaces": ["default"], "externalSecretName": "child", "externalSecretSpec": wanting()["spec"]}


async def test_what_names_a_cluster_store_is_left_alone_where_those_are_off(clock: Clock) -> None:
    async with Life(clock).running(process=Process(cluster_store=False)) as life:
        await life.apply(store(namespace=""), wanting(secretStoreRef=CLUSTER), store(), wanting("y"))
        assert await life.status(X) == {}
        assert await life.data("x") is None
        assert await life.data("y") == {"a": "v"}
        assert await life.status(ObjectRef(GROUP, "ClusterSecretStore", "", "s")) == {}


@pytest.mark.parametrize(
    ("off", "kind"),
    [
        pytest.param({"push_secret": False}, "PushSecret", id="PushSecret"),
        pytest.param({"cluster_push_secret": False}, "ClusterPushSecret", id="ClusterPushSecret"),
        pytest.param({"cluster_external_secret": False}, "ClusterExternalSecret", id="ClusterExternalSecret"),
    ],
)
async def test_of_a_kind_that_is_off_nothing_is_done(clock: Clock, off: dict[str, bool], kind: str) -> None:
    push = {"secretStoreRefs": [{"name": "s"}], "selector": {"secret": {"name": "none"}}, "data": []}
    specs: dict[str, Document] = {
        "PushSecret": push,
        "ClusterPushSecret": {"pushSecretSpec": push},
        "ClusterExternalSecret": CHILDREN,
    }
    scope = "default" if kind == "PushSecret" else ""
    document = manifest(kind, "off", specs[kind], namespace=scope)
    ref = ObjectRef(GROUP, kind, scope, "off")
    async with Life(clock).running(process=Process(**off)) as life:
        await life.apply(store(), document)
        assert await life.status(ref) == {}
        assert await life.finalizers(ref) == []
    async with Life(clock).running() as life:
        await life.apply(store(), document)
        assert await life.status(ref) != {}


async def test_a_store_that_nobody_checks_is_used_if_that_is_asked_for(clock: Clock) -> None:
    off = Process(secret_store=False)
    async with Life(clock).running(process=off) as life:
        await life.apply(store(), wanting())
        assert await life.data("x") is None, "it waits until somebody reports the store as ready"
    async with Life(clock).running(process=off, require_ready_stores=False) as life:
        await life.apply(store(), wanting())
        assert await life.data("x") == {"a": "v"}
