"""The operator and we, each on an API server of its own, are given the same stores: the Secrets are equal."""

import asyncio
import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from syncret.config.meta import Document, member
from syncret.providers.testing import Ability
from tests.real.e2e.process import daemon, until
from tests.real.peers.opening import Call, Store, is_free, opened
from tests.real.peers.stores import ABSENT, AUTHORITY, PEERS, UNSEEN
from tests.support.servers.eso.running import operator, program
from tests.support.servers.kube.crds import install
from tests.support.servers.kube.running import KubeApi
from tests.support.tunnel import tunnel

pytestmark = [pytest.mark.slow, pytest.mark.differential]

ESO: Final = "external-secrets.io/v1"

ANOTHER_KEY: Final = (
    "the vendor's client encrypts for Keeper's own servers alone, and this is the operator as it is"
)

APART: Final = {
    "keepersecurity": ANOTHER_KEY,
    "keepersecurity pushes": ANOTHER_KEY,
    "onboardbase": "the operator calls one address, which no variable changes",
}
"""What only the other program of the operator's providers, which we build, can call."""

ALONE: Final = {"volcengine", *(name for name in PEERS if name.startswith("yandex"))}
"""Each has an operator of its own. Volcengine's client leads all others of the process through the proxy, and
the operator keeps a token of Yandex Cloud for all stores with one key."""

ONE_BY_ONE: Final = ("--metrics-addr=0", "--client-qps=1000", "--client-burst=2000")

SETTLED: Final = 90.0
"""Seconds within which all have a condition."""


class Ended(NamedTuple):
    """How an ExternalSecret ended."""

    is_ready: bool
    data: Mapping[str, str] | None
    """Of its Secret, if there is one."""
    message: str = ""


Outcomes = Mapping[str, Ended]
"""By what was asked."""


class Cluster(NamedTuple):
    """An API server, with a namespace for each store."""

    api: KubeApi

    def put(self, name: str, store: Store, provider: Document) -> None:
        """The store, and the Secrets and ConfigMaps that it names."""
        namespace, given = _namespace(name), store.harness.given
        assert not given.tokens, "there is nobody who makes ServiceAccounts"
        self.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for secret, data in given.secrets.items():
            encoded = {key: b64encode(value).decode() for key, value in data.items()}
            self._create(namespace, "v1", "Secret", secret, {"data": encoded})
        for config_map, texts in given.config_maps.items():
            self._create(namespace, "v1", "ConfigMap", config_map, {"data": dict(texts)})
        self._create(namespace, ESO, "SecretStore", "store", {"spec": {"provider": provider}})

    def ask(self, name: str, asked: Mapping[str, Call]) -> None:
        """An ExternalSecret for each question."""
        for question, call in asked.items():
            ref = {"name": "store", "kind": "SecretStore"}
            spec = {"refreshInterval": "1h", "secretStoreRef": ref, **_entries(call)}
            self._create(_namespace(name), ESO, "ExternalSecret", question, {"spec": spec})

    def validated(self, name: str) -> bool:
        """Whether its store has a condition."""
        return _ready(self._get(name, "secretstores", "store")) is not None

    def ended(self, name: str, question: str) -> Ended | None:
        """How it ended, once it did."""
        ready = _ready(self._get(name, "externalsecrets", question))
        if ready is None:
            return None
        secret = self.api.get(f"/api/v1/namespaces/{_namespace(name)}/secrets/{question}")
        data = None if secret is None else secret.get("data", {})
        return Ended(ready["status"] == "True", data, ready.get("message", ""))

    def _create(self, namespace: str, version: str, kind: str, name: str, rest: Document) -> None:
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        document = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}
        self.api.create(f"{root}/namespaces/{namespace}/{kind.lower()}s", document)

    def _get(self, name: str, plural: str, object_: str) -> Document:
        return self.api.get(f"/apis/{ESO}/namespaces/{_namespace(name)}/{plural}/{object_}") or {}


def _namespace(name: str) -> str:
    return re.sub("[^a-z0-9]+", "-", name.lower())


def _entries(call: Call) -> Document:
    if "get" in call:
        return {"data": [{"secretKey": "value", "remoteRef": call["get"]}]}
    if "find" in call:  # its own CRDs would write this default
        return {"dataFrom": [{"find": {"conversionStrategy": "Default", **call["find"]}}]}
    return {"dataFrom": [dict(call)]}


def _ready(document: Document) -> Document | None:
    conditions = member(document, "status").get("conditions", ())
    return next((each for each in conditions if each["type"] == "Ready"), None)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, tuple[Outcomes, Outcomes]]]:
    """What the operator made of each store, and what we did."""
    program()  # built, if it must be, before a proxy stands in the way
    theirs, ours = Cluster(KubeApi()), Cluster(KubeApi())
    try:
        with pytest.MonkeyPatch.context() as patch:
            yield asyncio.run(_played(theirs, ours, tmp_path_factory.mktemp("clusters"), patch))
    finally:
        theirs.api.stop()
        ours.api.stop()


async def _played(
    theirs: Cluster, ours: Cluster, folder: Path, patch: pytest.MonkeyPatch
) -> Mapping[str, tuple[Outcomes, Outcomes]]:
    """All stores at once, each on a server of its own; a proxy leads to those whose hosts are fixed."""
    authority = folder / "ca.pem"
    authority.write_bytes(AUTHORITY.pem)
    patch.setenv("SSL_CERT_FILE", os.fspath(authority))
    async with AsyncExitStack() as stack:
        stores: dict[str, Store] = {}
        for name, peer in PEERS.items():
            if name in APART or not is_free(peer.port):
                continue
            own = folder / _namespace(name)
            own.mkdir()
            store = await stack.enter_async_context(opened(peer, own))
            if Ability.READ not in store.lacks:
                stores[name] = store
                await store.fill()
        for variable, value in (pair for store in stores.values() for pair in store.variables.items()):
            patch.setenv(variable, value)
        ports = {host: store.port for store in stores.values() for host in store.hosts}
        proxy = await stack.enter_async_context(tunnel(ports))
        patch.setenv("HTTPS_PROXY", proxy.url)
        patch.setenv("NO_PROXY", "127.0.0.1")  # for what of the test itself does not know Go's rules
        together = {name: store for name, store in stores.items() if name not in ALONE}
        groups = (together, *({name: stores[name]} for name in sorted(ALONE & stores.keys())))
        return await asyncio.to_thread(_synced, theirs, ours, groups, folder)


def _synced(
    theirs: Cluster, ours: Cluster, groups: Sequence[Mapping[str, Store]], folder: Path
) -> Mapping[str, tuple[Outcomes, Outcomes]]:
    """One after the other: most of the servers know one session, and each login ends the former."""
    for cluster in (theirs, ours):
        install(cluster.api)
    config = ours.api.kubeconfig(folder / "ours.kubeconfig")
    found: dict[str, tuple[Outcomes, Outcomes]] = {}
    for stores in groups:
        for name, store in stores.items():
            theirs.put(name, store, store.provider_of_the_operator())
            ours.put(name, store, {store.harness.provider: store.harness.spec()})
        within = () if len(stores) > 1 else (f"--namespace={_namespace(next(iter(stores)))}",)
        with operator(theirs.api, folder, *ONE_BY_ONE, *within):
            their_outcomes = _asked(theirs, stores)
        with daemon(folder, None, "--kubernetes", "--set", f"kubeconfig={config}") as process:
            our_outcomes = _asked(ours, stores)
            assert process.stop() == 0
        found |= {name: (their_outcomes[name], our_outcomes[name]) for name in stores}
    return found


def _asked(cluster: Cluster, stores: Mapping[str, Store]) -> Mapping[str, Outcomes]:
    """Ask once the stores are checked: then the first answer is the last."""
    with suppress(TimeoutError):  # what has no condition is missing below
        until(lambda: all(cluster.validated(name) for name in stores), "checked", SETTLED, every=0.5)
    for name, store in stores.items():
        cluster.ask(name, store.asked())
    questions = [(name, question) for name, store in stores.items() for question in store.asked()]
    with suppress(TimeoutError):
        until(lambda: all(cluster.ended(*each) for each in questions), "all ended", SETTLED, every=0.5)
    return {name: _outcomes(cluster, name, store) for name, store in stores.items()}


def _outcomes(cluster: Cluster, name: str, store: Store) -> Outcomes:
    ended = {question: cluster.ended(name, question) for question in store.asked()}
    late = [question for question, each in ended.items() if each is None]
    assert not late, f"{name}: no condition within {SETTLED:g} s: {late}"
    return {question: each for question, each in ended.items() if each is not None}


@pytest.mark.parametrize("name", sorted(PEERS))
def test_the_secrets_are_equal(name: str, outcomes: Mapping[str, tuple[Outcomes, Outcomes]]) -> None:
    if name not in outcomes:
        pytest.skip(APART.get(name, "nothing is read there, or its port is in use"))
    theirs, ours = outcomes[name]
    assert ours["value"].is_ready
    for question, ended in ours.items():
        same = ended[:2] == theirs[question][:2]
        differs = PEERS[name].differs.get(question)
        # what is absent is an error in both clusters, whatever the operator's provider calls it
        assert same is (differs is None or differs in {ABSENT, UNSEEN}), (question, theirs[question], ended)
