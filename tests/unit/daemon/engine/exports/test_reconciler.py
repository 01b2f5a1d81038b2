"""The exports of resources in a simulated cluster: what is written, repaired, pruned, refused and read."""

from base64 import b64encode
from collections.abc import Callable
from typing import Final, TypeVar

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.exports.owner import EXPORTED_BY
from syncret.daemon.engine.exports import opening, reconciler
from syncret.daemon.engine.exports.evaluator import Evaluator
from syncret.daemon.engine.work import TimeLimit, WorkLimits
from syncret.daemon.simulate.scenario import read_scenario
from syncret.daemon.simulate.simulation import run_scenario
from syncret.providers.registry import Registry
from syncret.providers.work import Work

T = TypeVar("T")

GROUP: Final = "storage.example.com/v1"


class HereThreads:
    """Does the work in the process of the test: a worker process takes half a second to start."""

    def __init__(self, limits: WorkLimits) -> None:
        del limits

    def new_work(self) -> Work:
        return Work()

    async def run(self, function: Callable[[Work], T], work: Work, limit: TimeLimit) -> T:
        del limit
        return function(work)

    def close(self) -> None: ...


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "WorkThreads", HereThreads)


def resource(name: str = "acct", status: Document | None = None, **operator_spec: object) -> Document:
    return {
        "apiVersion": GROUP,
        "kind": "StorageAccount",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"location": "westeurope", "operatorSpec": operator_spec},
        "status": {"id": "/a/b"} if status is None else status,
    }


def entry(value: str, name: str = "out", key: str | None = "k", **more: object) -> Document:
    return {"name": name, "value": value, **({} if key is None else {"key": key}), **more}


def named(kind: str, name: str, api_version: str = "v1") -> Document:
    return {"apiVersion": api_version, "kind": kind, "namespace": "shop", "name": name}


def played(*steps: Document, apis: dict[str, dict[str, str]] | None = None) -> list[Document]:
    document: Document = {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "exports"},
        "spec": {"now": "2026-01-01T00:00:00Z", "secretApis": apis or {}, "steps": list(steps)},
    }
    registry = Registry()
    scenario, problems = read_scenario(document, registry)
    assert scenario is not None, problems
    found: list[Document] = run_scenario(scenario, registry, now=0.0)["steps"]
    return found


def data(step: Document, name: str = "out", kind: str = "Secret") -> Document | None:
    """What an object holds; None where there is none."""
    for each in step["objects"]:
        if (each["kind"], each["metadata"]["name"]) == (kind, name):
            held: Document = each.get("data", {})
            return held
    return None


def b64(text: str) -> str:
    return b64encode(text.encode()).decode()


ACCOUNT: Final = {"StorageAccount/shop/acct": {"key1": "hunter2", "key2": "swordfish"}}


def test_a_secret_and_a_config_map() -> None:
    spec = resource(
        dynamicSecrets=[entry("secret.key1")],
        configMapExpressions=[entry("self.status.id"), entry("{'l': self.spec.location}", key=None)],
    )
    (step,) = played({"apply": [spec]}, apis=ACCOUNT)
    assert data(step) == {"k": b64("hunter2")}
    assert data(step, kind="ConfigMap") == {"k": "/a/b", "l": "westeurope"}
    assert step["reads"] == 1
    (secret,) = [each for each in step["objects"] if each["kind"] == "Secret"]
    (owner,) = secret["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("StorageAccount", "acct")


def test_no_secret_is_asked_for_that_nothing_uses() -> None:
    (step,) = played({"apply": [resource(dynamicConfigMaps=[entry("self.status.id")])]}, apis=ACCOUNT)
    assert (step["reads"], data(step, kind="ConfigMap")) == (0, {"k": "/a/b"})


def test_what_changes_is_written() -> None:
    patch = {"merge": {"status": {"id": "/c"}}, **named("StorageAccount", "acct", GROUP)}
    steps = played({"apply": [resource(dynamicConfigMaps=[entry("self.status.id")])]}, {"patch": [patch]}, {})
    assert data(steps[1], kind="ConfigMap") == {"k": "/c"}
    assert [len(each["changes"]) for each in steps] == [1, 1, 0]


def test_drift_is_repaired() -> None:
    patch = {"merge": {"data": {"k": "eA==", "z": "eA=="}}, **named("Secret", "out")}
    steps = played(
        {"apply": [resource(dynamicSecrets=[entry("'a'")])]},
        {"patch": [patch]},
        {"delete": [named("Secret", "out")]},
    )
    assert [data(each) for each in steps] == [{"k": b64("a")}] * 3


def test_secrets_are_read_again_after_the_interval() -> None:
    steps = played(
        {"apply": [resource(dynamicSecrets=[entry("secret.key1")])], "advance": "3h"}, apis=ACCOUNT
    )
    assert steps[0]["reads"] == 4


def test_an_output_goes_with_its_entry() -> None:
    spec = resource(dynamicSecrets=[entry("'a'"), entry("'b'", name="other")])
    less = resource(dynamicSecrets=[entry("'a'")])
    steps = played({"apply": [spec]}, {"apply": [less]}, {"apply": [resource()]})
    assert (data(steps[0]), data(steps[0], "other")) == ({"k": b64("a")}, {"k": b64("b")})
    assert (data(steps[1]), data(steps[1], "other")) == ({"k": b64("a")}, None)
    assert (data(steps[2]), data(steps[2], "other")) == (None, None)


def test_all_goes_with_the_resource() -> None:
    gone = {"delete": [named("StorageAccount", "acct", GROUP)]}
    assert data(played({"apply": [resource(dynamicSecrets=[entry("'a'")])]}, gone)[1]) is None


FOREIGN: Final[Document] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "out", "namespace": "shop"},
    "data": {"mine": b64("own")},
}


@pytest.mark.parametrize("label", [False, True], ids=["foreign", "with our label"])
def test_an_object_of_somebody_else_is_never_touched(*, label: bool) -> None:
    taken = {**FOREIGN, "metadata": {**FOREIGN["metadata"], "labels": {EXPORTED_BY: "x"} if label else {}}}
    spec = resource(dynamicSecrets=[entry("'a'"), entry("'b'", name="other")])
    steps = played({"apply": [taken, spec]}, {"apply": [resource()]})
    assert data(steps[0]) == data(steps[1]) == {"mine": b64("own")}
    assert data(steps[0], "other") == {"k": b64("b")}


def test_of_two_resources_with_the_same_output_the_second_is_refused() -> None:
    first = resource("acct", dynamicSecrets=[entry("'a'")])
    second = resource("else", dynamicSecrets=[entry("'b'")])
    steps = played({"apply": [first]}, {"apply": [second]}, {"apply": [resource("else")]})
    assert [data(each) for each in steps] == [{"k": b64("a")}] * 3


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(entry("self.status.nothing", name="last"), id="at evaluation"),
        pytest.param(entry("1 +", name="last"), id="at check"),
        pytest.param(entry("''", name="last"), id="an empty text"),
        pytest.param(entry("'a'", name="../other/last"), id="the name of another namespace"),
        pytest.param(entry("'a'", key="k"), id="the same key twice"),
    ],
)
def test_one_that_fails_writes_nothing(broken: Document) -> None:
    (step,) = played({"apply": [resource(dynamicSecrets=[entry("'a'"), broken])]})
    assert step["changes"] == []


def test_the_namespace_is_never_another() -> None:
    (step,) = played({"apply": [resource(dynamicSecrets=[entry("'a'", namespace="kube-system")])]})
    assert {each["metadata"].get("namespace") for each in step["objects"] if each["kind"] == "Secret"} <= {
        "shop"
    }


def owned(uid: str, **values: str) -> Document:
    reference = {"apiVersion": GROUP, "kind": "StorageAccount", "name": "acct", "uid": uid}
    return {
        **FOREIGN,
        "metadata": {"name": "conn", "namespace": "shop", "ownerReferences": [reference]},
        "data": {name: b64(value) for name, value in values.items()},
    }


UID: Final = "00000000-0000-4000-8000-000000000001"
"""That of the first object of a simulation."""


@pytest.mark.parametrize(
    "spec",
    [
        {"operatorSpec": {"secrets": {"password": {"name": "conn", "key": "p"}}}},
        {"writeConnectionSecretToRef": {"name": "conn"}},
    ],
    ids=["static exports", "a connection secret"],
)
def test_without_a_secret_api_the_secret_that_the_resource_wrote_serves(spec: Document) -> None:
    document = resource()
    document["spec"] |= spec
    document["spec"]["operatorSpec"] = {
        **document["spec"]["operatorSpec"],
        "dynamicSecrets": [entry("'pw=' + secret.p")],
    }
    steps = played(
        {"apply": [document]},
        {"apply": [owned(UID, p="one")]},
        {"apply": [owned(UID, p="two")]},
    )
    assert [data(each) for each in steps] == [None, {"k": b64("pw=one")}, {"k": b64("pw=two")}]


def test_a_secret_that_the_resource_did_not_write_is_not_copied() -> None:
    document = resource(dynamicSecrets=[entry("secret.p")])
    document["spec"]["writeConnectionSecretToRef"] = {"name": "conn"}
    (step,) = played({"apply": [document, owned("somebody-else", p="one")]})
    assert data(step) is None


def test_what_the_resources_own_operator_writes_beside_ours_stays() -> None:
    document = resource(
        secrets={"password": {"name": "conn", "key": "p"}},
        dynamicSecrets=[entry("'a'", name="conn")],
    )
    only_static = resource(secrets={"password": {"name": "conn", "key": "p"}})
    steps = played(
        {"apply": [document]},
        {"apply": [owned(UID, p="one")]},
        {"apply": [only_static]},
    )
    assert data(steps[1], "conn") == {"p": b64("one"), "k": b64("a")}
    assert data(steps[2], "conn") == {"p": b64("one")}


def test_without_the_engine_nothing_is_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciler, "has_engine", lambda: False)
    (step,) = played({"apply": [resource(dynamicSecrets=[entry("'a'")])]})
    assert step["changes"] == []


def test_a_resource_without_exports_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Evaluator, "check", None)
    (step,) = played({"apply": [resource(secrets={"password": {"name": "conn", "key": "p"}})]})
    assert step["changes"] == []


def test_names_that_the_status_has_need_no_api() -> None:
    cache: Document = {
        **resource("cache", {"hostName": "c.example", "sslPort": 6380}),
        "apiVersion": "cache.azure.com/v1",
        "kind": "Redis",
    }
    ports = {"dynamicSecrets": [entry("'%s:%s'.format([secret.hostName, secret.sslPort])")]}
    keys = {"dynamicSecrets": [entry("secret.hostName + secret.primaryKey")]}
    (step,) = played({"apply": [{**cache, "spec": {"operatorSpec": ports}}]})
    assert (data(step), step["reads"]) == ({"k": b64("c.example:6380")}, 0)
    cache["status"]["id"] = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Cache/redis/cache"
    apis = {"Redis/shop/cache": {"primaryKey": "!"}}
    (step,) = played({"apply": [{**cache, "spec": {"operatorSpec": keys}}]}, apis=apis)
    assert (data(step), step["reads"]) == ({"k": b64("c.example!")}, 1)
