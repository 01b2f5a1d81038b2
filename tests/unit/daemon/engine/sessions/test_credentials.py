from collections.abc import Sequence

import msgspec
import pytest

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.daemon.engine.sessions.credentials import StoreCredentials
from syncret.daemon.engine.templates import Templates
from syncret.daemon.homes.contract import HomeError, StoredObject, WatchEventType
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.watch import event_of
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work
from tests.unit.daemon.engine.support import START, manifest


@pytest.fixture
async def home() -> MemoryCluster:
    home = MemoryCluster(now=lambda: START)
    for namespace in ("own", "other"):
        value = {"own": "b3du", "other": "b3RoZXI="}[namespace]
        await home.create(manifest("Secret", "login", group="", namespace=namespace, data={"token": value}))
    await home.create(manifest("ConfigMap", "ca", group="", namespace="own", data={"ca.crt": "PEM"}))
    return home


@pytest.mark.parametrize(
    ("scope", "asked", "expected"),
    [
        pytest.param(Scope(cluster=False, namespace="own"), None, b"own", id="its own"),
        pytest.param(Scope(cluster=False, namespace="own"), "other", b"own", id="another is not heeded"),
        pytest.param(Scope(cluster=True), "other", b"other", id="a cluster store's word counts"),
        pytest.param(Scope(cluster=True, namespace="own"), None, b"own", id="else its caller's"),
    ],
)
async def test_where_credentials_are_read(
    home: MemoryCluster, scope: Scope, asked: str | None, expected: bytes
) -> None:
    assert (await StoreCredentials(home, scope).secret_key("login", "token", asked)).raw == expected


async def test_config_maps(home: MemoryCluster) -> None:
    credentials = StoreCredentials(home, Scope(cluster=False, namespace="own"))
    assert await credentials.config_map_key("ca", "ca.crt") == "PEM"


async def test_what_was_read_and_what_was_absent_is_outdated_by_newer_versions(home: MemoryCluster) -> None:
    credentials = StoreCredentials(home, Scope(cluster=False, namespace="own"))
    await credentials.secret_key("login", "token")
    with pytest.raises(Malformed):
        await credentials.secret_key("nothing", "token")
    login = ObjectRef("", "Secret", "own", "login")
    stored = await home.get(login)
    assert stored is not None
    assert not credentials.is_outdated_by(event_of(WatchEventType.MODIFIED, stored))
    assert not credentials.is_outdated_by(event_of(WatchEventType.DRIFTED, stored))
    newer = await home.update({**stored.document, "data": {"token": "eA=="}})
    assert credentials.is_outdated_by(event_of(WatchEventType.MODIFIED, newer))
    assert credentials.is_outdated_by(event_of(WatchEventType.DELETED, newer))
    created = await home.create({**stored.document, "metadata": {"name": "nothing", "namespace": "own"}})
    assert credentials.is_outdated_by(event_of(WatchEventType.ADDED, created))
    assert not credentials.is_outdated_by(event_of(WatchEventType.DELETED, created)), "it was absent before"
    other = await home.create({**stored.document, "metadata": {"name": "other", "namespace": "own"}})
    assert not credentials.is_outdated_by(event_of(WatchEventType.ADDED, other))


@pytest.mark.parametrize(
    ("scope", "name", "key", "message"),
    [
        pytest.param(
            Scope(cluster=False, namespace="own"), "none", "token", 'cannot get Secret "none"', id="no Secret"
        ),
        pytest.param(
            Scope(cluster=False, namespace="own"),
            "login",
            "password",
            'cannot find key "password"',
            id="no key",
        ),
        pytest.param(Scope(cluster=True), "login", "token", "without a namespace", id="no namespace"),
    ],
)
async def test_what_is_missing_is_named(
    home: MemoryCluster, scope: Scope, name: str, key: str, message: str
) -> None:
    with pytest.raises(Malformed, match=message) as caught:
        await StoreCredentials(home, scope).secret_key(name, key)
    assert caught.value.hint
    assert "own" not in repr(caught.value).replace('namespace "own"', "")


class OtherHome(MemoryCluster):
    """A home whose Secrets hold what none should."""

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        stored = await super().get(ref)
        data = '{"metadata":{"name":"login"},"data":{"token":"canaryé"}}'.encode()
        return stored and msgspec.structs.replace(stored, data=data)


async def test_what_is_not_base64_is_told() -> None:
    home = OtherHome(now=lambda: START)
    await home.create(manifest("Secret", "login", group="", namespace="own"))
    with pytest.raises(Malformed, match="is not base64") as caught:
        await StoreCredentials(home, Scope(cluster=False, namespace="own")).secret_key("login", "token")
    assert caught.value.hint
    assert caught.value.__context__ is None, "what base64 says may hold the text"


class BrokenHome(MemoryCluster):
    """A home that cannot be reached."""

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        raise HomeError("a text that may quote anything")


async def test_a_home_that_fails_is_unavailable() -> None:
    credentials = StoreCredentials(BrokenHome(now=lambda: START), Scope(cluster=False, namespace="own"))
    with pytest.raises(Unavailable, match=r"cannot read Secret/own/login: InternalError$"):
        await credentials.secret_key("login", "token")


async def test_a_whole_secret_and_an_account(home: MemoryCluster) -> None:
    credentials = StoreCredentials(home, Scope(cluster=False, namespace="own"))
    role = {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/a"}
    account = manifest("ServiceAccount", "app", group="", namespace="own")
    account["metadata"]["annotations"] = role
    await home.create(account)
    secret = await credentials.secret("login")

    assert {key: value.raw for key, value in secret.data.items()} == {"token": b"own"}
    assert secret.labels == {}
    assert await credentials.account_annotations("app") == role
    with pytest.raises(Malformed, match='ServiceAccount "none"'):
        await credentials.account_annotations("none")


async def test_tokens_are_asked_of_the_home() -> None:
    asked: list[tuple[ObjectRef, tuple[str, ...], int]] = []

    class Issuing(MemoryCluster):
        async def issue_token(
            self, account: ObjectRef, audiences: Sequence[str], seconds: int
        ) -> IssuedToken:
            asked.append((account, tuple(audiences), seconds))
            return IssuedToken(SecretBytes(b"jwt"), START + seconds)

    credentials = StoreCredentials(Issuing(now=lambda: START), Scope(cluster=True, namespace="own"))
    issued = await credentials.account_token("app", audiences=("vault",), namespace="other")

    assert (issued.token.raw, issued.expires) == (b"jwt", START + 600)
    assert asked == [(ObjectRef("", "ServiceAccount", "other", "app"), ("vault",), 600)]


async def test_a_home_without_an_api_server_issues_nothing(home: MemoryCluster) -> None:
    with pytest.raises(Malformed, match='ServiceAccount "app" of namespace "own"') as caught:
        await StoreCredentials(home, Scope(cluster=False, namespace="own")).account_token("app")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("/{{ .remoteRef.key }}", "/a b", id="a value"),
        pytest.param("{{ .login.token | b64enc | upper }}", "DDRQ", id="functions"),
        pytest.param("{{ .remoteRef.absent }}|{{ .absent }}", "<no value>|<no value>", id="absent"),
    ],
)
def test_requests_are_rendered(template: str, expected: str) -> None:
    render = Templates(lambda: START).request

    assert render(template, {"remoteRef": {"key": "a b"}, "login": {"token": "t4P"}}, Work()) == expected


@pytest.mark.parametrize("template", ['{{ fail "canary" }}', '{{ "canary', '{{ index "canary" 9 }}'])
def test_a_request_that_cannot_be_rendered(template: str) -> None:
    with pytest.raises(Malformed, match="template of a request") as caught:
        Templates(lambda: START).request(template, {}, Work())
    assert "canary" not in str(caught.value)
