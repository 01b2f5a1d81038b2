"""Secret Server passes the suite, on a server written from its published reference."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.contract import Client
from syncret.providers.errors import Denied, Malformed
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.secretserver.client import SecretServerClient
from syncret.providers.secretserver.secrets import Secret
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from syncret.providers.testing.calls import fields, item, read, writer
from syncret.providers.values import RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.suites.providers.rest_harness import RestHarness
from tests.support.servers.rest import running
from tests.support.servers.secretserver.server import FOLDER, TEMPLATE, SecretServer

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

NO_FIND = "as ESO has it, secrets are not searched"
PLACE = {
    "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
    "kind": "PushSecretMetadata",
    "spec": {"folderId": FOLDER, "secretTemplateId": TEMPLATE},
}


class FirstField(SecretServerClient):
    """A whole secret is JSON with its ID, which the suite cannot know: its values are the first field."""

    def value(self, payload: Secret, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return super().value(payload, ref if ref.property else ref._replace(property="value"), work)

    async def push(self, item: PushItem) -> None:
        await super().push(replace(item, metadata=PLACE))


class SecretServerHarness(RestHarness[SecretServer]):
    provider = "secretserver"
    lacks: Mapping[Ability, str] = {
        Ability.ABSENCE: "Secret Server says not found of what may not be seen, which must delete nothing",
        Ability.VERSION: "the API reads secrets as they are now",
        Ability.FIND_NAME: NO_FIND,
        Ability.FIND_PATH: NO_FIND,
        Ability.FIND_TAGS: NO_FIND,
        Ability.OWN: "as ESO has it, secrets get no mark",
    }

    def __init__(self, server: SecretServer) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"password": server.password.encode()}

    def spec(self) -> Document:
        password = {"secretRef": {"name": "login", "key": "password"}}
        user = {"username": {"value": "shop"}, "password": password, "domain": "corp"}
        return {"serverURL": self.server.url, **user}

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.password, self.server.token)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.add(entry.key, value=entry.value.decode())

    async def stored(self, key: str) -> bytes | None:
        held = [each for each in self.server.secrets.values() if each["active"] and each["name"] == key]
        if not held:
            return None
        found = {each["slug"]: each["itemValue"] for each in held[0]["items"] if each["itemValue"]}
        return found["value"].encode() if "value" in found else json.dumps(found).encode()

    async def rotate(self) -> None:
        self.server.password, self.server.token = "canary-password-2", "none"
        self.given.secrets["login"] = {"password": self.server.password.encode()}


class OfTheSuite(SecretServerHarness):
    def open(self) -> AbstractAsyncContextManager[Client]:
        @asynccontextmanager
        async def first_field() -> AsyncGenerator[Client]:
            async with super(OfTheSuite, self).open() as client:
                assert isinstance(client, SecretServerClient)
                client.__class__ = FirstField
                yield client

        return first_field()


class TestSecretServer(ProviderSuite):
    @pytest.fixture
    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[Harness]:
        async with running(SecretServer()) as server:
            yield OfTheSuite(server)


async def test_a_platform_leads_to_its_vault() -> None:
    async with running(SecretServer(platform=True)) as server:
        server.add("db", value="one")
        async with SecretServerHarness(server).open() as client:
            assert await read(client, RemoteRef("db", "value")) == b"one"

    assert server.logins == 1


@pytest.mark.parametrize("key", ["101", "/shop/db", "folderId:7/db"])
async def test_keys(key: str) -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        server.add("db", folder=8, value="another")
        server.add("db", value="one")
        assert await read(client, RemoteRef(key, "Value")) == b"one"
        with pytest.raises(Malformed, match="several secrets are called 'db'"):
            await writer(client).push(item("db", b"two"))


async def test_a_folder_with_a_name_that_many_others_have() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        for folder in range(100, 140):
            server.add("db", folder=folder, value="another")
        server.add("db", value="one")
        assert await read(client, RemoteRef(f"folderId:{FOLDER}/db", "value")) == b"one"
        with pytest.raises(Malformed, match="there is no secret"):
            await read(client, RemoteRef("folderId:99/db", "value"))


async def test_a_whole_secret_is_as_delineas_client_for_go_prints_it() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        server.add("db", value="<one>")
        found = await read(client, RemoteRef("db"))

    assert found is not None
    begin = b'{"Name":"db","FolderID":7,"ID":100,"SiteID":1,"SecretTemplateID":6007,"LauncherConnect'
    assert found.startswith(begin)
    assert b'"FieldDescription":"","Filename":"","ItemValue":"\\u003cone\\u003e","IsFile":false' in found


async def test_fields_without_json() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        server.add("db", value="plain", user="ada")
        every = await fields(client, RemoteRef("db"))
        absent = await read(client, RemoteRef("db", "port"))

    assert {name: value.raw for name, value in (every or {}).items()} == {
        "value": b"plain",
        "user": b"ada",
        "password": b"",
    }
    assert absent is None


async def test_a_file_is_read_and_kept() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        held = server.secrets[server.add("db", value="one")]["items"]
        held[2] |= {"isFile": True, "fileAttachmentId": 5, "filename": "a.txt", "itemValue": "***"}
        found = await read(client, RemoteRef("db", "password"))
        whole = await read(client, RemoteRef("db"))
        await writer(client).push(item("db", b"two"))
        with pytest.raises(Malformed, match="field 'password' is a file"):
            await writer(client).push(item("db", b"two", "password"))

    assert found == b"the file password"
    assert whole is not None
    assert b'"ItemValue":"the file password"' in whole
    assert [each["itemValue"] for each in held] == ["two", "", "***"]


async def test_a_binary_file_is_read_byte_for_byte() -> None:
    content = b"\xfe\xed\xfe\xed\x00\x00"
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        held = server.secrets[server.add("db", value="one")]["items"]
        held[2] |= {"isFile": True, "fileAttachmentId": 5, "filename": "a.jks", "itemValue": "***"}
        server.files["password"] = content
        found = await read(client, RemoteRef("db", "password"))
        every = await fields(client, RemoteRef("db"))
        with pytest.raises(Malformed, match="file 'password' of the secret is binary"):
            await read(client, RemoteRef("db"))

    assert found == content
    assert {name: value.raw for name, value in (every or {}).items()} == {
        "value": b"one",
        "user": b"",
        "password": content,
    }


async def test_a_file_field_without_a_file_is_empty() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        held = server.secrets[server.add("db", value="one")]
        dummy = "*** Not Valid For Display ***"
        held["items"][2] |= {"isFile": True, "itemValue": dummy}
        found = await read(client, RemoteRef("db", "password"))
        every = await fields(client, RemoteRef("db"))
        whole = await read(client, RemoteRef("db"))
        there = await writer(client).exists(RemoteTarget("db", "password"))
        await writer(client).delete(RemoteTarget("db", "value"))

    assert (found, (every or {})["password"].raw, there) == (b"", b"", False)
    assert dummy.encode() not in (whole or dummy.encode())
    assert held["active"] is False


async def test_a_secret_with_a_file_stays_without_its_last_text() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        held = server.secrets[server.add("db", value="one")]
        held["items"][2] |= {"isFile": True, "fileAttachmentId": 5, "filename": "k.pem", "itemValue": None}
        there = await writer(client).exists(RemoteTarget("db", "password"))
        await writer(client).delete(RemoteTarget("db", "value"))

    assert (there, held["active"], held["items"][0]["itemValue"]) == (True, True, "")


async def test_what_may_not_be_done_is_a_bad_request() -> None:
    def refused(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"errorCode": "API_AccessDenied", "message": "Access Denied"}, status=400)

    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        with server.failing(refused), pytest.raises(Denied, match="permission denied"):
            await read(client, RemoteRef("db"))


async def test_a_new_secret_needs_a_place() -> None:
    async with running(SecretServer()) as server, SecretServerHarness(server).open() as client:
        with pytest.raises(Malformed, match="it is not said where a new one goes"):
            await writer(client).push(item("db", b"one"))
        await writer(client).push(replace(item("folderId:8/db", b"ada", "user"), metadata=PLACE))

    [held] = server.secrets.values()
    assert (held["folderId"], held["items"][1]["itemValue"]) == (8, "ada")
