"""Vault and OpenBao pass the suite with engines of both versions, on the real server.

OpenBao itself cannot be had. Of what it has added to the API since it parted from Vault (pages and recursion
of lists, namespaces of its own) its provider uses the namespaces alone, whose header is the same.
"""

import json
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import Any, Literal, TypeAlias

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import Client
from syncret.providers.errors import Denied
from syncret.providers.kit.golang import json as gojson
from syncret.providers.openbao import PROVIDER as OPENBAO
from syncret.providers.openbao.spec import OpenBaoAppRole, OpenBaoAuth, OpenBaoSpec
from syncret.providers.testing import Ability, Entry, Fault, Harness, ProviderSuite
from syncret.providers.testing.calls import item, read, writer
from syncret.providers.values import RemoteRef
from syncret.providers.vault import PROVIDER
from syncret.providers.vault.auth_spec import VaultAppRole, VaultAuth
from syncret.providers.vault.spec import VaultSpec
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.servers.gate import Gate, broken, gate
from tests.support.servers.vault.running import Vault, vault

pytestmark = pytest.mark.slow

Version: TypeAlias = Literal["v1", "v2"]

SECRET_ID = SecretKeySelector(name="login", key="secret-id")
NONE = "key-value engines of version 1 have none"
_LACKS: dict[Version, Mapping[Ability, str]] = {
    "v1": {Ability.VERSION: NONE, Ability.FIND_TAGS: NONE},
    "v2": {},
}


class VaultHarness:
    """A mount of its own behind a gate, and an AppRole that may do everything there."""

    versions: tuple[str, str] = ("1", "2")

    def __init__(self, server: Vault, between: Gate, version: Version) -> None:
        self._server = server
        self._gate = between
        self._version: Version = version
        self.mount = server.mount(version=version[1:])
        self._login = server.login("approle")
        policy = server.policy(
            **{f"{self.mount}/*": "create read update delete list", f"sys/mounts/{self.mount}": "read"}
        )
        server.write(f"auth/{self._login}/role/app", token_policies=[policy], token_ttl="20m")
        self._role = str((server.read(f"auth/{self._login}/role/app/role-id") or {})["role_id"])
        self._given = Given(secrets={"login": {"secret-id": self._secret_id().encode()}})
        self.lacks: Mapping[Ability, str] = _LACKS[version]

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self._given.secrets["login"]["secret-id"].decode(),)

    def whole(self, text: str) -> bytes:
        return gojson.marshal({"text": text}, Work()).encode()

    def key(self, name: str) -> str:
        return name

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            data = json.loads(entry.value)
            if self._version == "v1":
                self._server.write(f"{self.mount}/{entry.key}", **data)
                continue
            self._server.write(f"{self.mount}/data/{entry.key}", data=data)
            if entry.tags:
                path = f"{self.mount}/metadata/{entry.key}"
                self._server.write(path, custom_metadata=dict(entry.tags))

    async def stored(self, key: str) -> bytes | None:
        inside = key if self._version == "v1" else f"data/{key}"
        found = self._server.read(f"{self.mount}/{inside}")
        if found is None:
            return None
        data: dict[str, Any] = found if self._version == "v1" else found["data"]
        if self._version == "v1":
            data.pop("custom_metadata", None)
        return gojson.marshal(data, Work()).encode()

    async def writes(self) -> int:
        return sum(each.method != "GET" and "/auth/" not in each.path for each in self._gate.passed)

    def open(self) -> AbstractAsyncContextManager[Client]:
        role = VaultAppRole(path=self._login, role_id=self._role, secret_ref=SECRET_ID)
        spec = VaultSpec(
            server=self._gate.url, path=self.mount, version=self._version, auth=VaultAuth(app_role=role)
        )
        assert PROVIDER.open is not None
        return PROVIDER.open(spec, context(self._given))

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        return self._gate.failing(
            lambda request: None if "/auth/" in request.path else _answer(fault, request)
        )

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        with self._gate.failing(lambda request: _forbidden() if request.path.endswith(f"/{key}") else None):
            yield

    async def rotate(self) -> None:
        """The old secret ID goes, and with it every token that it was exchanged for."""
        old = self._given.secrets["login"]["secret-id"].decode()
        self._given.secrets["login"] = {"secret-id": self._secret_id().encode()}
        self._server.write(f"auth/{self._login}/role/app/secret-id/destroy", secret_id=old)
        self._server.write(f"sys/leases/revoke-prefix/auth/{self._login}/login")

    def _secret_id(self) -> str:
        made = self._server.write(f"auth/{self._login}/role/app/secret-id")
        return str(made["data"]["secret_id"])


def _answer(fault: Fault, request: web.Request) -> web.StreamResponse:
    match fault:
        case Fault.THROTTLE:
            return web.json_response({"errors": ["slow down"]}, status=429, headers={"Retry-After": "7"})
        case Fault.DENY:
            return _forbidden()
        case Fault.TIME_OUT:
            return broken(request)


def _forbidden() -> web.Response:
    return web.json_response({"errors": ["1 error occurred:\n\t* permission denied\n\n"]}, status=403)


class _OnVault(ProviderSuite):
    version: Version

    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with gate(vault().url) as between:
            yield VaultHarness(vault(), between, self.version)


class TestVersion1(_OnVault):
    version: Version = "v1"

    async def test_what_was_pushed_can_be_read(self, harness: Harness, client: Client) -> None:
        """With our mark, which has no other place than among the values."""
        await writer(client).push(item("pushed", harness.whole("one")))
        found = json.loads(await read(client, RemoteRef("pushed")) or b"")

        assert found == {"text": "one", "custom_metadata": {"managed-by": "external-secrets"}}


class TestVersion2(_OnVault):
    version: Version = "v2"


async def test_an_entry_of_others_whose_newest_version_is_deleted() -> None:
    """Its earlier versions can be brought back, and are not ours to destroy."""
    async with gate(vault().url) as between:
        harness = VaultHarness(vault(), between, "v2")
        await harness.seed(Entry("web", harness.whole("theirs"), tags={"owner": "ada"}))
        vault().request("DELETE", f"{harness.mount}/data/web")
        async with harness.open() as client:
            with pytest.raises(Denied, match="not managed by external-secrets"):
                await writer(client).push(item("web", harness.whole("ours")))

    metadata = vault().read(f"{harness.mount}/metadata/web") or {}
    assert (metadata["custom_metadata"], metadata["current_version"]) == ({"owner": "ada"}, 1)


async def test_an_entry_of_ours_whose_newest_version_is_deleted() -> None:
    async with gate(vault().url) as between:
        harness = VaultHarness(vault(), between, "v2")
        async with harness.open() as client:
            await writer(client).push(item("web", harness.whole("one")))
            vault().request("DELETE", f"{harness.mount}/data/web")
            await writer(client).push(item("web", harness.whole("two")))

        assert await harness.stored("web") == harness.whole("two")


READ_ONLY = "ESO's openBao provider is read only"


class OpenBaoHarness(VaultHarness):
    def __init__(self, server: Vault, between: Gate, version: Version) -> None:
        super().__init__(server, between, version)
        writing = (Ability.PUSH, Ability.PUSH_PROPERTY, Ability.DELETE, Ability.DELETE_PROPERTY)
        self.lacks = {
            **self.lacks,
            **dict.fromkeys((*writing, Ability.EXISTS, Ability.OWN), READ_ONLY),
            Ability.FIND_PATH: "ESO's openBao provider searches a path by name only",
            Ability.FIND_TAGS: "ESO's openBao provider knows no tags",
        }

    def open(self) -> AbstractAsyncContextManager[Client]:
        role = OpenBaoAppRole(path=self._login, role_id=self._role, secret_ref=SECRET_ID)
        spec = OpenBaoSpec(
            server=self._gate.url, path=self.mount, version=self._version, auth=OpenBaoAuth(app_role=role)
        )
        assert OPENBAO.open is not None
        return OPENBAO.open(spec, context(self._given))


class _OnOpenBao(ProviderSuite):
    version: Version

    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with gate(vault().url) as between:
            yield OpenBaoHarness(vault(), between, self.version)


class TestOpenBaoVersion1(_OnOpenBao):
    version: Version = "v1"


class TestOpenBaoVersion2(_OnOpenBao):
    version: Version = "v2"
