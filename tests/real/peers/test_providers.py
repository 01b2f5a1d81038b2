"""The operator's own providers and ours, given one store each, find the same values on the same servers."""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from syncret.config.fields import Json
from syncret.providers.contract import Finder
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing import Ability
from syncret.providers.testing.calls import fields, item, read, writer
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from tests.real.peers.opening import Call, Store, is_free, opened
from tests.real.peers.stores import ABSENT, AUTHORITY, EMPTY, PEERS, UNSEEN
from tests.support.servers.eso.providers import Outcome, called, program
from tests.support.servers.yandex.server import Yandex
from tests.support.tls import trust
from tests.support.tunnel import tunnel_to

pytestmark = [pytest.mark.slow, pytest.mark.differential]


class Theirs(NamedTuple):
    """The operator's providers: the program, and what it finds in its environment."""

    program: Path
    environment: Mapping[str, str]

    async def called(self, store: Store, *calls: Mapping[str, Json]) -> list[Outcome]:
        secrets = store.harness.given.secrets
        return await called(self.program, store.provider_of_the_operator(), secrets, calls, self.environment)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Theirs:
    """With an API server that nobody calls: some providers want one before they need it."""
    kubeconfig = tmp_path_factory.mktemp("peers") / "kubeconfig.json"
    cluster = {"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "none", "context": {"cluster": "none", "user": ""}}
    kubeconfig.write_text(
        json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "none"})
    )
    return Theirs(program(), {"KUBECONFIG": os.fspath(kubeconfig)})


@pytest.fixture(params=sorted(PEERS))
async def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncGenerator[Store]:
    peer = PEERS[request.param]
    if not is_free(peer.port):
        pytest.skip(f"port {peer.port} is in use")
    if peer.tls:
        (tmp_path / "ca.pem").write_bytes(AUTHORITY.pem)
        monkeypatch.setenv("SSL_CERT_FILE", os.fspath(tmp_path / "ca.pem"))
        trust(monkeypatch, AUTHORITY)
    async with opened(peer, tmp_path) as store, tunnel_to(store.port) as proxy:
        for name, value in store.variables.items():
            monkeypatch.setenv(name, value)
        if store.hosts:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        yield store


async def _ours(store: Store, call: Mapping[str, Any]) -> Outcome:
    """The same call by our provider."""
    async with store.harness.open() as client:
        try:
            if "get" in call:
                asked = call["get"]
                ref = RemoteRef(asked["key"], asked.get("property", ""), asked.get("version", ""))
                found = await read(client, ref)
                return Outcome(absent=True) if found is None else Outcome(value=found)
            if "extract" in call:
                asked = call["extract"]
                several = await fields(client, RemoteRef(asked["key"], asked.get("property", "")))
            elif "find" in call:
                assert isinstance(client, Finder)
                wanted = call["find"]
                query = FindQuery(name=wanted.get("name", {}).get("regexp"), path=wanted.get("path"))
                several = await client.find(query, unpaced, Work())
            else:
                return Outcome(state="Ready")
        except Malformed as error:
            return Outcome(error=str(error))
    assert several is not None
    return Outcome(values={name: value.raw for name, value in several.items()})


def _shown(outcome: Outcome) -> object:
    """An outcome without the words of an error."""
    return outcome._replace(error="an error" if outcome.error and not outcome.absent else "")


async def test_both_find_the_same(store: Store, theirs: Theirs) -> None:
    if Ability.READ in store.lacks:
        pytest.skip(store.lacks[Ability.READ])
    await store.fill()
    asked: dict[str, Mapping[str, Json]] = {**store.asked(), "probe": {"validate": True}}
    told = await theirs.called(store, *asked.values())

    for (name, call), found in zip(asked.items(), told, strict=True):
        same = _shown(found) == _shown(await _ours(store, call))
        differs = store.peer.differs.get(name)
        assert same is (differs is None), (name, found, await _ours(store, call))
        if differs in {ABSENT, EMPTY}:
            assert bool(found.error) is (differs == ABSENT), found
        assert differs != UNSEEN or found.absent, found


async def test_what_the_operator_pushes_we_find_unchanged(store: Store, theirs: Theirs) -> None:
    if Ability.PUSH in store.lacks:
        pytest.skip(store.lacks[Ability.PUSH])
    key = store.harness.key("pushed")
    match = {"secretKey": "k", "remoteRef": {"remoteKey": key}}
    pushing = {"push": {"match": match}, "source": {"k": "dA=="}}
    [told] = await theirs.called(store, pushing)
    if "not implemented" in told.error or "not supported" in told.error:
        pytest.skip("the operator does not push there")

    assert told.error == ""
    if Ability.READ in store.lacks:
        assert await store.harness.stored(key) == b"t"
        return
    async with store.harness.open() as client:
        assert await read(client, RemoteRef(key)) == store.peer.pushed


async def test_what_we_push_the_operator_finds_unchanged(store: Store, theirs: Theirs) -> None:
    lacks, key, parts = store.lacks, store.harness.key("pushed"), store.harness.key("parts")
    if not lacks.keys().isdisjoint({Ability.READ, Ability.PUSH}):
        pytest.skip("one of both does not do it")
    pushed = [item(key, store.harness.whole("one"))]
    asked: list[Call] = [{"get": {"key": key, "property": store.peer.asks}}]
    if Ability.PUSH_PROPERTY not in lacks and "property" not in store.peer.differs:
        pushed += [item(parts, b"ada", "user"), item(parts, b'"<s3&cret>\\', "password")]
        asked += [{"get": {"key": parts, "property": name}} for name in ("user", "password")]
    async with store.harness.open() as client:
        for each in pushed:
            await writer(client).push(replace(each, metadata=store.peer.metadata))
    found = await theirs.called(store, *asked)

    assert found == [await _ours(store, call) for call in asked]
    assert [each.value for each in found[1:]] == [each.value.raw for each in pushed[1:]]


@pytest.mark.parametrize("store", [name for name in PEERS if name.startswith("yandex")], indirect=True)
async def test_both_read_the_same_parts_and_versions(store: Store, theirs: Theirs) -> None:
    server: Yandex = store.harness.server
    server.secrets["it"] = [
        {"part": "old"},
        {"part": "new", "file": b"\xff\x00", "none": "", "a": "<&>\u2028é"},
    ]
    server.certificates["it"] = [([" old"], "its key"), (["\nleaf\n", "root "], "a key\n")]
    parts = ("part", "file", "none", "a", "chain", "privateKey", "chainAndPrivateKey", "absent")
    calls: list[dict[str, dict[str, Json]]] = [{"get": {"key": "it", "property": part}} for part in parts]
    calls += [{"get": {"key": "it", "version": version}} for version in ("", "v1", "v2")]
    calls += [{"extract": {"key": "it"}}]
    told = await theirs.called(store, *calls)

    for call, found in zip(calls, told, strict=True):
        ours = await _ours(store, call)
        # an empty value is none in what the operator's program prints
        assert _shown(found) == _shown(ours._replace(value=ours.value or None)), call
    assert sum(not found.error for found in told) >= len(calls) - 5


@pytest.mark.parametrize("store", ["onboardbase"], indirect=True)
async def test_both_read_the_same_of_an_environment(store: Store, theirs: Theirs) -> None:
    texts = {f"LENGTH_{length}": "é" * (length // 2) + "x" * (length % 2) for length in range(1, 35)}
    db = '{"user": "ada", "port": 5432, "nested": {"deep": ["x", "<&>"]}}'
    store.harness.server.secrets = {**texts, "DB": db, "LIST": "[1]", "EMPTY": ""}
    calls: list[dict[str, dict[str, Json]]] = [{"get": {"key": name}} for name in texts]
    parts = ("user", "port", "nested", "nested.deep.1", "absent")
    calls += [{"get": {"key": "DB", "property": part}} for part in parts]
    calls += [{"extract": {"key": "DB"}}, {"extract": {"key": "DB", "property": "nested"}}]
    calls += [{"extract": {"key": "LIST"}}, {"find": {"path": "LENGTH_1"}}]
    calls += [{"find": {"path": "LENGTH", "name": {"regexp": "_[12]$"}}}, {"find": {"name": {"regexp": ""}}}]
    told = await theirs.called(store, *calls)

    for call, found in zip(calls, told, strict=True):
        assert _shown(found) == _shown(await _ours(store, call)), call


@pytest.mark.parametrize("store", ["onboardbase"], indirect=True)
async def test_what_the_operator_calls_absent_in_an_environment(store: Store, theirs: Theirs) -> None:
    """What is empty, and everything if the passcode is wrong."""
    store.harness.server.secrets = {"DB": "text", "EMPTY": ""}
    empty, text = {"get": {"key": "EMPTY"}}, {"get": {"key": "DB"}}
    [told] = await theirs.called(store, empty)
    assert "not found" in told.error
    assert await _ours(store, empty) == Outcome(value=b"")

    store.harness.server.passcode = "another"
    [told] = await theirs.called(store, text)
    assert "not found" in told.error
    with pytest.raises(Denied, match="the passcode does not decrypt it"):
        await _ours(store, text)
