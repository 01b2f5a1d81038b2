"""The keeper on an API server that keeps what it is given: the Secret, `caBundle`, what is not written."""

import json
from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from syncret.config.meta import Document
from syncret.daemon.admission.authority import DAY
from syncret.daemon.admission.keeper import PUBLISHED, CertificateKeeper, Place, certificates_of
from syncret.daemon.admission.rotation import OVERLAP, Wanted
from syncret.daemon.core.webhook_names import CRDS
from syncret.daemon.homes.contract import Conflict, StorageUnavailable
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.opening import http_to
from syncret.providers.kit.http import Tls

START = 1_800_000_000.0
SECRET = "/api/v1/namespaces/ns/secrets/hook"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WANTED = Wanted(("hook.ns.svc",))


class Objects:
    """An API server of a few objects; each write raises a version, and is counted."""

    def __init__(self) -> None:
        self.held: dict[str, Document] = {}
        self.writes: list[str] = []
        self.forbidden: set[str] = set()
        self._version = 0

    def put(self, path: str, document: Document) -> Document:
        self._version += 1
        metadata = {**document.get("metadata", {}), "resourceVersion": str(self._version)}
        self.held[path] = {**document, "metadata": metadata}
        return self.held[path]

    async def handle(self, request: web.Request) -> web.Response:
        path, found = request.path, self.held.get(request.path)
        if request.method == "GET":
            return web.json_response(found) if found else _refused(404, "NotFound")
        if path in self.forbidden:
            return _refused(403, "Forbidden")
        document: Any = json.loads(await request.read())
        if request.method == "POST":
            path = f"{path}/{document['metadata']['name']}"
        elif found and document["metadata"].get("resourceVersion") != found["metadata"]["resourceVersion"]:
            return _refused(409, "Conflict")
        self.writes.append(path)
        return web.json_response(self.put(path, document))


def _refused(status: int, reason: str) -> web.Response:
    return web.json_response({"kind": "Status", "reason": reason, "code": status}, status=status)


def configuration(name: str, **client: Any) -> Document:  # noqa: ANN401  # any member
    labels = {"external-secrets.io/component": "webhook"}
    return {"metadata": {"name": name, "labels": labels}, "webhooks": [{"name": "a", "clientConfig": client}]}


@pytest.fixture
def objects() -> Objects:
    objects = Objects()
    objects.put(SECRET, {"metadata": {"name": "hook", "labels": {"a": "b"}}, "type": "Opaque"})
    theirs = {"service": {"namespace": "old", "name": "old", "path": "/p", "port": 443}}
    objects.put(f"{CONFIGURATIONS}/secretstore-validate", configuration("secretstore-validate", **theirs))
    by_url = configuration("externalsecret-validate", url="https://hook.example/p")
    objects.put(f"{CONFIGURATIONS}/externalsecret-validate", by_url)
    for name in CRDS:
        objects.put(
            f"{CRD}/{name}", {"metadata": {"name": name}, "spec": {"conversion": {"strategy": "None"}}}
        )
    return objects


class Keeper(CertificateKeeper):
    """At a time that the test says."""

    time = START

    def __init__(self, api: ApiServer) -> None:
        self.failures: list[tuple[str, str]] = []
        place = Place("ns", "hook")
        super().__init__(
            api,
            secret=place,
            service=place,
            wanted=WANTED,
            every=300,
            now=lambda: self.time,
            on_failure=lambda seen, why: self.failures.append((seen.ref.name, why)),
        )


@asynccontextmanager
async def keeping(objects: Objects) -> AsyncGenerator[Keeper]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", objects.handle)
    async with TestServer(app) as server:
        chosen = Access(server=str(server.make_url("/")).rstrip("/"), tls=Tls(), login=FixedHeaders({}))
        async with http_to(chosen) as http:
            yield Keeper(ApiServer(http, chosen.login))


@pytest.fixture
async def keeper(objects: Objects) -> AsyncIterator[Keeper]:
    async with keeping(objects) as keeper:
        yield keeper


def client(objects: Objects, name: str) -> Document:
    found: Document = objects.held[f"{CONFIGURATIONS}/{name}"]["webhooks"][0]["clientConfig"]
    return found


async def test_the_secret_is_filled_and_the_api_server_told(objects: Objects, keeper: Keeper) -> None:
    await keeper.renew()
    secret = objects.held[SECRET]
    assert sorted(secret["data"]) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    assert secret["metadata"]["labels"] == {"a": "b"}
    stores, syncs = client(objects, "secretstore-validate"), client(objects, "externalsecret-validate")
    bundle = certificates_of(secret).bundle
    assert b64decode(stores["caBundle"]) == b64decode(syncs["caBundle"]) == bundle
    assert stores["service"] == {"namespace": "ns", "name": "hook", "path": "/p", "port": 443}
    assert "service" not in syncs, "it is called by URL"


async def test_a_second_look_writes_nothing(objects: Objects, keeper: Keeper) -> None:
    await keeper.renew()
    objects.writes.clear()
    await keeper.renew()
    async with keeping(objects) as another:
        await another.renew()
    assert objects.writes == []


async def test_what_others_overwrite_is_put_back(objects: Objects, keeper: Keeper) -> None:
    await keeper.renew()
    told = client(objects, "secretstore-validate")["caBundle"]
    path = f"{CONFIGURATIONS}/secretstore-validate"
    objects.put(path, configuration("secretstore-validate", service={"path": "/p"}))
    await keeper.renew()
    assert client(objects, "secretstore-validate")["caBundle"] == told


@pytest.mark.parametrize("left", [None, {"metadata": {"name": "hook"}}], ids=["deleted", "emptied"])
async def test_a_secret_that_is_lost_comes_back_as_it_was(
    objects: Objects, keeper: Keeper, left: Document | None
) -> None:
    await keeper.renew()
    before = certificates_of(objects.held[SECRET])
    if left is None:
        del objects.held[SECRET]
    else:
        objects.put(SECRET, left)
    await keeper.renew()
    assert certificates_of(objects.held[SECRET]) == before


async def test_a_configuration_without_the_label_is_somebody_elses(objects: Objects, keeper: Keeper) -> None:
    path = f"{CONFIGURATIONS}/secretstore-validate"
    objects.put(path, {**objects.held[path], "metadata": {"name": "secretstore-validate"}})
    await keeper.renew()
    assert path not in objects.writes


async def test_a_crd_is_told_only_if_a_webhook_converts_it(objects: Objects, keeper: Keeper) -> None:
    path = f"{CRD}/{CRDS[0]}"
    await keeper.renew()
    assert path not in objects.writes
    objects.put(
        path,
        {
            **objects.held[path],
            "spec": {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}},
        },
    )
    await keeper.renew()
    found = objects.held[path]["spec"]["conversion"]["webhook"]
    assert b64decode(found["clientConfig"]["caBundle"]) == certificates_of(objects.held[SECRET]).bundle
    assert found["conversionReviewVersions"] == ["v1"]
    assert f"{CRD}/{CRDS[1]}" not in objects.writes


async def test_a_successor_is_used_a_day_after_the_last_configuration_has_it(
    objects: Objects, keeper: Keeper
) -> None:
    await keeper.renew()
    first = certificates_of(objects.held[SECRET])
    objects.forbidden.add(f"{CONFIGURATIONS}/secretstore-validate")
    keeper.time = START + 3300 * DAY
    with pytest.raises(StorageUnavailable):
        await keeper.renew()
    keeper.time += 10 * DAY
    with pytest.raises(StorageUnavailable):
        await keeper.renew()
    held = certificates_of(objects.held[SECRET])
    assert (held.authority, held.published) == (first.authority, None)
    assert {name for name, _ in keeper.failures} == {"secretstore-validate"}
    told = b64decode(client(objects, "externalsecret-validate")["caBundle"])
    assert told == held.bundle, "one that cannot be written keeps no other one waiting"
    objects.forbidden.clear()
    await keeper.renew()
    await keeper.renew()
    assert PUBLISHED in objects.held[SECRET]["metadata"]["annotations"]
    async with keeping(objects) as another:  # another replica goes on where this one was
        another.time = keeper.time + OVERLAP
        await another.renew()
        used = certificates_of(objects.held[SECRET])
        assert used.authority == held.successor
        assert (used.former, used.published) == (first.authority.certificate, None)
        assert b64decode(client(objects, "externalsecret-validate")["caBundle"]) == used.bundle
        another.time += OVERLAP
        await another.renew()
    assert certificates_of(objects.held[SECRET]).bundle == used.authority.certificate
    assert sorted(objects.held[SECRET]["data"]) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    assert PUBLISHED not in objects.held[SECRET]["metadata"]["annotations"]


async def test_of_two_that_renew_at_once_one_gives_way(objects: Objects, keeper: Keeper) -> None:
    await keeper.renew()
    keeper.time = START + 61 * DAY
    stale = dict(objects.held[SECRET])
    async with keeping(objects) as another:
        another.time = keeper.time
        await another.renew()
    renewed = objects.held[SECRET]
    objects.held[SECRET] = {**stale, "metadata": {**stale["metadata"], "resourceVersion": "0"}}
    seen = objects.handle

    async def races(request: web.Request) -> web.Response:
        answer = await seen(request)
        if request.method == "GET" and request.path == SECRET:
            objects.held[SECRET] = renewed
        return answer

    objects.handle = races  # type: ignore[method-assign]
    async with keeping(objects) as late:
        late.time = keeper.time
        with pytest.raises(Conflict):
            await late.renew()
        await late.renew()
    assert objects.held[SECRET] == renewed
