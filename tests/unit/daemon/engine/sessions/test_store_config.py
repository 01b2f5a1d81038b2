from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from syncret.config.catalog import BrokenEntry, SpecType
from syncret.config.fields import CAProvider, Json, Model, SecretKeySelector, ServiceAccountSelector
from syncret.config.meta import Document, ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.engine.reconciler import ANY
from syncret.daemon.engine.sessions.store_config import StoreConfig, credentials_of, load_store_config
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.contract import Provider
from syncret.providers.errors import Malformed
from syncret.providers.kit.retry import Doubling, RetryPolicy
from syncret.providers.registry import UnknownName


class Auth(Model):
    """Nested, optional and many."""

    token: SecretKeySelector | None = None
    accounts: tuple[ServiceAccountSelector, ...] = ()
    named: dict[str, SecretKeySelector] = {}


class Spec(Model):
    """A spec as providers have it."""

    auth: Auth | None = None
    ca: CAProvider | None = None
    token: str = ""


def find(name: str) -> Provider[Any]:
    if name == "broken":
        raise BrokenEntry("provider 'broken' cannot be loaded", hint="reinstall it")
    if name != "vault":
        raise UnknownName("provider", name, ["vault"])
    return Provider(SpecType("vault", Spec), published_rate=lambda spec: float(spec.token or 0) or None)


def store(spec: Json, *, namespace: str = "team", annotations: Json = None, **beside: Json) -> StoredObject:
    kind = "SecretStore" if namespace else "ClusterSecretStore"
    metadata: Document = {"name": "s", "generation": 3, "annotations": annotations or {}}
    document: Document = {"metadata": metadata, "spec": {"provider": {"vault": spec}, **beside}}
    ref = ObjectRef("external-secrets.io", kind, namespace, "s")
    return StoredObject(ref=ref, uid="u", resource_version="9", data=msgspec.json.encode(document))


def plan(*arguments: Json, **keywords: Json) -> StoreConfig:
    return load_store_config(store(*arguments, **keywords), find, Settings(requests_per_second=50, burst=100))


@pytest.mark.parametrize(
    ("spec", "referent", "credentials"),
    [
        pytest.param({}, False, [], id="none"),
        pytest.param(
            {"auth": {"token": {"name": "a", "key": "k"}}}, True, [("Secret", ANY, "a")], id="secret"
        ),
        pytest.param(
            {"auth": {"token": {"name": "a", "key": "k", "namespace": "x"}}},
            False,
            [("Secret", "x", "a")],
            id="secret of a namespace",
        ),
        pytest.param(
            {"auth": {"accounts": [{"name": "a", "namespace": "x"}, {"name": "b"}]}},
            True,
            [("ServiceAccount", "x", "a"), ("ServiceAccount", ANY, "b")],
            id="one of many",
        ),
        pytest.param({"auth": {"named": {"x": {"name": "a"}}}}, True, [("Secret", ANY, "a")], id="in a map"),
        pytest.param(
            {"ca": {"type": "ConfigMap", "name": "ca", "namespace": "x"}},
            False,
            [("ConfigMap", "x", "ca")],
            id="bundle",
        ),
        pytest.param({"auth": {"token": {"key": "k"}}}, False, [], id="no name is no reference"),
    ],
)
def test_a_cluster_store_borrows_credentials_that_have_no_namespace(
    spec: Json, *, referent: bool, credentials: list[tuple[str, str, str]]
) -> None:
    found = plan(spec, namespace="")
    assert found.referent is referent
    assert list(credentials_of(found)) == [ObjectRef("", *each) for each in credentials]


def test_a_store_of_a_namespace_looks_there_whatever_a_reference_says() -> None:
    found = plan({"auth": {"token": {"name": "a", "namespace": "elsewhere"}}})
    assert not found.referent
    assert list(credentials_of(found)) == [ObjectRef("", "Secret", "team", "a")]


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        pytest.param({}, RetryPolicy(attempts=3), id="settings"),
        pytest.param({"retrySettings": {}}, RetryPolicy(attempts=3), id="empty"),
        pytest.param({"retrySettings": {"maxRetries": 0}}, RetryPolicy(attempts=1), id="never"),
        pytest.param({"retrySettings": {"maxRetries": 9}}, RetryPolicy(attempts=10), id="often"),
        pytest.param(
            {"retrySettings": {"retryInterval": "5s"}},
            RetryPolicy(3, Doubling(5, 5)),
            id="interval",
        ),
        pytest.param(
            {"retrySettings": {"retryInterval": "1h"}},
            RetryPolicy(3, Doubling(30, 30)),
            id="a pause has a bound",
        ),
    ],
)
def test_retry_settings(beside: Json, expected: RetryPolicy) -> None:
    assert plan({}, **beside).retry == expected


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        pytest.param({}, (50, 100), id="settings"),
        pytest.param({"syncret.dev/requests-per-second": "0.5"}, (0.5, 100), id="rate"),
        pytest.param({"syncret.dev/burst": "7"}, (50, 7), id="burst"),
    ],
)
def test_bounds(annotations: Json, expected: tuple[float, float]) -> None:
    found = plan({}, annotations=annotations)
    assert (found.rate, found.burst) == expected


@pytest.mark.parametrize(
    ("published", "annotations", "expected"),
    [
        pytest.param("2", {}, (2, 2), id="lower than the settings"),
        pytest.param("0.5", {}, (0.5, 1), id="less than one a second"),
        pytest.param("500", {}, (50, 100), id="higher"),
        pytest.param("2", {"syncret.dev/requests-per-second": "20"}, (20, 2), id="the store says otherwise"),
    ],
)
def test_limits_that_a_vendor_publishes(
    published: str, annotations: Json, expected: tuple[float, float]
) -> None:
    found = plan({"token": published}, annotations=annotations)
    assert (found.rate, found.burst) == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda: store({"token": 5}), "does not fit its schema", id="type"),
        pytest.param(lambda: store({}, provider={"volt": {}}), "no provider 'volt' .*|volt", id="unknown"),
        pytest.param(lambda: store({}, provider={"broken": {}}), "cannot be loaded", id="broken"),
        pytest.param(lambda: store({}, provider={}), "does not fit", id="none"),
        pytest.param(lambda: store({}, provider=[]), "does not fit", id="not a mapping"),
        pytest.param(
            lambda: store({}, annotations={"syncret.dev/burst": "many"}), "burst must be", id="burst"
        ),
        pytest.param(
            lambda: store({}, retrySettings={"retryInterval": "soon"}), "retryInterval", id="interval"
        ),
    ],
)
def test_what_is_wrong_is_said_without_a_value(make: Callable[[], StoredObject], message: str) -> None:
    with pytest.raises(Malformed, match=message):
        load_store_config(make(), find, Settings())


class Counted(Model):
    """An entry that no selector can be part of."""

    key: str = ""

    def __getattribute__(self, name: str) -> object:
        looked_at.append(name)
        return super().__getattribute__(name)


class Many(Model):
    """A spec with very many of them, and a selector."""

    data: tuple[Counted, ...]
    token: SecretKeySelector | None = None


looked_at: list[str] = []


def test_entries_without_selectors_are_not_looked_into() -> None:
    """Each version of a store is asked for its credentials: one of 45,000 entries held the loop up."""
    spec = Many(data=(Counted(key="a"),) * 3, token=SecretKeySelector(name="login", key="k"))
    looked_at.clear()
    found = msgspec.structs.replace(plan({}), spec=spec)
    assert [ref.name for ref in credentials_of(found)] == ["login"]
    assert "key" not in looked_at
