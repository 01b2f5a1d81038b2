import pytest

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import BackendError, Stored
from syncret.daemon.backends.memory.cluster import MemoryCluster
from syncret.daemon.engine.credentials import ABSENT, HomeCredentials
from syncret.providers.errors import Malformed, Unavailable
from tests.engine.support import START, manifest


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
    assert (await HomeCredentials(home, scope).secret_key("login", "token", asked)).raw == expected


async def test_config_maps(home: MemoryCluster) -> None:
    credentials = HomeCredentials(home, Scope(cluster=False, namespace="own"))
    assert await credentials.config_map_key("ca", "ca.crt") == "PEM"


async def test_versions_are_remembered_and_absence_too(home: MemoryCluster) -> None:
    credentials = HomeCredentials(home, Scope(cluster=False, namespace="own"))
    await credentials.secret_key("login", "token")
    with pytest.raises(Malformed):
        await credentials.secret_key("nothing", "token")
    login = ObjectRef("", "Secret", "own", "login")
    stored = await home.get(login)
    assert stored is not None
    assert credentials.versions == {
        login: stored.resource_version,
        ObjectRef("", "Secret", "own", "nothing"): ABSENT,
    }


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
        await HomeCredentials(home, scope).secret_key(name, key)
    assert caught.value.hint
    assert "own" not in repr(caught.value).replace('namespace "own"', "")


class BrokenHome(MemoryCluster):
    """A home that cannot be reached."""

    async def get(self, ref: ObjectRef) -> Stored | None:
        raise BackendError("a text that may quote anything")


async def test_a_home_that_fails_is_unavailable() -> None:
    credentials = HomeCredentials(BrokenHome(now=lambda: START), Scope(cluster=False, namespace="own"))
    with pytest.raises(Unavailable, match=r"cannot read Secret/own/login: InternalError$"):
        await credentials.secret_key("login", "token")
