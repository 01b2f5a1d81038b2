"""Objects on a real API server: written, read, watched, and guarded by their versions."""

from base64 import b64encode
from contextlib import aclosing

import pytest

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.daemon.core.digest import data_hash
from syncret.daemon.core.ownership import DATA_HASH, MANAGED
from syncret.daemon.homes.contract import (
    AlreadyExists,
    Conflict,
    Invalid,
    NotFound,
    StorageUnavailable,
    WatchEvent,
    WatchEventType,
)
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.homes.kubernetes.opening import cluster_home
from syncret.daemon.homes.kubernetes.scope import Scope
from syncret.providers.registry import Registry
from tests.real.kubernetes.conftest import access_of
from tests.suites.homes.objects import OURS, SECRET, existing, manifest, ref, replay, secret, take
from tests.support.homes import delete_by_name
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

CONFIG_MAP = GroupKind("", "ConfigMap")
VALUE = "the-value-that-must-not-travel"


def ours(namespace: str, name: str = "a", *, spec: Document | None = None) -> Document:
    return manifest(OURS, name, namespace, spec=SPEC if spec is None else spec)


def managed(namespace: str, name: str = "s", **values: str) -> Document:
    """A Secret as a run writes it."""
    raw = {key: value.encode() for key, value in values.items()}
    return {
        **secret(name),
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {MANAGED: "true"},
            "annotations": {DATA_HASH: data_hash(raw)},
        },
        "data": {key: b64encode(value).decode() for key, value in raw.items()},
    }


SPEC: Document = {
    "refreshInterval": "1h",
    "secretStoreRef": {"name": "store"},
    "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}],
}


def described(events: list[WatchEvent]) -> list[str]:
    return [f"{event.type} {event.object.ref.name}" for event in events if event.object is not None]


async def test_a_write_returns_the_version_that_the_watch_tells(home: KubernetesHome, namespace: str) -> None:
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        created = await home.create(ours(namespace), field_manager="one")
        reported = await home.update_status(created, {"refreshTime": "2026-01-01T00:00:00Z"})
        assert reported is not None
        held = await home.set_finalizers(reported, ["example.com/hold"])
        told = await take(watch, 3)
        assert [event.object for event in told] == [created, reported, held]
        assert "managedFields" not in created.document["metadata"]
        assert await existing(home, created.ref) == held
        marked = await home.delete(held)
        assert marked is not None
        assert marked.document["metadata"]["deletionTimestamp"]
        await home.set_finalizers(marked, [])
        assert described(await take(watch, 2)) == ["modified a", "deleted a"]
        assert await home.get(created.ref) is None


async def test_stale_versions_conflict(home: KubernetesHome, namespace: str) -> None:
    stale = await home.create(ours(namespace))
    with pytest.raises(AlreadyExists):
        await home.create(ours(namespace))
    newest = await home.update({**stale.document, "spec": {**SPEC, "refreshInterval": "2h"}})
    assert newest.generation == 2
    with pytest.raises(Conflict):
        await home.update({**stale.document, "spec": {**SPEC, "refreshInterval": "3h"}})
    with pytest.raises(Conflict):
        await home.update_status(stale, {"refreshTime": "2026-01-01T00:00:00Z"})
    with pytest.raises(Conflict):
        await home.set_finalizers(stale, ["example.com/hold"])
    with pytest.raises(Conflict):
        await home.delete(stale)
    assert await home.delete(newest) is None
    with pytest.raises(NotFound):
        await home.delete(newest)
    assert await home.update_status(newest, {"refreshTime": "2026-01-01T00:00:00Z"}) is None


async def test_the_status_is_replaced_as_a_whole(home: KubernetesHome, namespace: str) -> None:
    created = await home.create(ours(namespace))
    condition = {"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "secret synced"}
    first = await home.update_status(created, {"conditions": [condition], "binding": {"name": "t"}})
    assert first is not None
    assert await home.update_status(first, first.document["status"]) == first
    second = await home.update_status(first, {"refreshTime": "2026-01-01T00:00:00Z"})
    assert second is not None
    assert second.document["status"] == {"refreshTime": "2026-01-01T00:00:00Z"}
    assert second.generation == created.generation


async def test_what_the_schema_refuses_is_invalid(home: KubernetesHome, namespace: str) -> None:
    with pytest.raises(Invalid) as refusal:
        await home.create(ours(namespace, spec={**SPEC, "refreshPolicy": "Never"}))
    assert [problem.path for problem in refusal.value.problems] == ["spec.refreshPolicy"]


async def test_values_of_secrets_are_read_by_name_alone(home: KubernetesHome, namespace: str) -> None:
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        plain = await home.create(
            {
                **managed(namespace, "plain", a=VALUE),
                "metadata": secret("plain")["metadata"] | {"namespace": namespace},
            }
        )
        marked = await home.create(managed(namespace, "marked", a=VALUE), field_manager="one")
        told = await take(watch, 2)
    encoded = b64encode(VALUE.encode())
    assert sorted(described(told)) == ["added marked", "added plain"]
    for stored in (plain, marked, *(event.object for event in told if event.object is not None)):
        assert encoded not in stored.data
    whole = await existing(home, marked.ref)
    assert whole.document["data"] == {"a": encoded.decode()}
    assert [entry["manager"] for entry in whole.document["metadata"]["managedFields"]] == ["one"]
    assert home.is_unchanged(marked.ref)
    assert not home.is_unchanged(plain.ref)


async def test_what_was_never_told_is_absent_until_it_is_made(
    home: KubernetesHome, namespace: str, api: KubeApi
) -> None:
    wanted = ref(SECRET, "s", namespace)
    assert not home.is_absent(wanted), "nothing is known before the watch"
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        assert home.is_absent(wanted)
        await home.create(managed(namespace, a="1"))
        assert not home.is_absent(wanted)
        await take(watch, 1)
        assert not home.is_absent(wanted)
        await delete_by_name(home, wanted)
        while (await anext(watch)).type is not WatchEventType.DELETED:
            pass
        assert home.is_absent(wanted)
        api.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "s"}})
        with pytest.raises(AlreadyExists):
            await home.create(managed(namespace, a="1"))
        assert not home.is_absent(wanted), "others were quicker, whatever the watch has told by now"
    assert not home.is_absent(wanted)


async def test_an_edited_secret_is_no_longer_unchanged(
    home: KubernetesHome, namespace: str, api: KubeApi
) -> None:
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        marked = await home.create(managed(namespace, a="1"))
        await take(watch, 1)
        assert home.is_unchanged(marked.ref)
        path = f"/api/v1/namespaces/{namespace}/secrets/s"
        api.request("PUT", path, managed(namespace, a="1") | {"data": {"a": "Mg=="}})
        (edited,) = await take(watch, 1)
    assert edited.type is WatchEventType.MODIFIED
    assert not home.is_unchanged(marked.ref)


async def test_a_secret_that_loses_its_mark_is_not_gone(
    home: KubernetesHome, namespace: str, api: KubeApi
) -> None:
    async with aclosing(home.watch()) as watch:
        await replay(watch, home)
        marked = await home.create(managed(namespace, a="1"))
        await take(watch, 1)
        document = managed(namespace, a="1")
        del document["metadata"]["labels"]
        path = f"/api/v1/namespaces/{namespace}/secrets/s"
        assert api.request("PUT", path, document).status == 200
        bare = (await existing(home, marked.ref)).resource_version
        seen = await take(watch, 1)
        while seen[-1].object is None or seen[-1].object.resource_version != bare:
            seen += await take(watch, 1)
        assert WatchEventType.DELETED not in {event.type for event in seen}
        assert not home.is_unchanged(marked.ref)
        await delete_by_name(home, marked.ref)
        while (gone := await anext(watch)).type is not WatchEventType.DELETED:
            assert gone.type is not WatchEventType.UNKNOWN
        assert gone.object is not None
        assert gone.object.uid == marked.uid


async def test_a_list_takes_a_selector(home: KubernetesHome, namespace: str) -> None:
    from syncret.config.fields import LabelRequirement, LabelSelector

    for name, tier in (("b", "back"), ("f", "front"), ("n", "")):
        labels = {"tier": tier} if tier else {}
        await home.create(
            ours(namespace, name) | {"metadata": {"name": name, "namespace": namespace, "labels": labels}}
        )

    async def names(selector: LabelSelector) -> list[str]:
        return [each.ref.name for each in await home.list(OURS, namespace=namespace, selector=selector)]

    def expression(operator: str, *values: str) -> LabelSelector:
        return LabelSelector(
            match_expressions=(LabelRequirement(key="tier", operator=operator, values=values),)
        )

    assert await names(LabelSelector()) == ["b", "f", "n"]
    assert await names(LabelSelector(match_labels={"tier": "back"})) == ["b"]
    assert await names(expression("In", "back", "front")) == ["b", "f"]
    assert await names(expression("NotIn", "back")) == ["f", "n"]
    assert await names(expression("Exists")) == ["b", "f"]
    assert await names(expression("DoesNotExist")) == ["n"]


async def test_a_kind_that_may_not_be_read_is_unknown(api: KubeApi, namespace: str) -> None:
    everything_but_secrets = {
        "apiGroups": ["external-secrets.io", "generators.external-secrets.io"],
        "resources": ["*"],
        "verbs": ["*"],
    }
    account = api.account(namespace, everything_but_secrets)
    access = access_of(api, api.token(namespace, account))
    async with cluster_home(access, catalog=Registry(), scope=Scope(namespace)) as home:
        async with aclosing(home.watch()) as watch:
            unknown: set[str] = set()
            known: set[str] = set()
            while len(unknown | known) < len(home.kinds()):
                event = await anext(watch)
                (unknown if event.type is WatchEventType.UNKNOWN else known).add(event.group_kind.kind)
        assert {"Secret", "ConfigMap", "ServiceAccount"} <= unknown
        assert "ExternalSecret" in known
        assert any(problem.source == "Secret" and "forbidden" in str(problem) for problem in home.problems())
        with pytest.raises(StorageUnavailable, match="forbidden"):
            await home.get(ref(SECRET, "s", namespace))


async def test_tokens_are_issued_by_the_api_server(
    home: KubernetesHome, api: KubeApi, namespace: str
) -> None:
    account = api.account(namespace)
    token = await home.issue_token(ObjectRef("", "ServiceAccount", namespace, account), ("vault",), 600)
    assert token.token.raw.count(b".") == 2
    assert token.expires is not None
