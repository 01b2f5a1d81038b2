"""Entries of a real Vault beyond what the suite asks: metadata, folders, marks, wrapping, dynamic reads."""

from collections.abc import AsyncIterator
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from syncret.config.fields import SecretKeySelector
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes
from syncret.providers.vault.auth_spec import VaultAuth
from syncret.providers.vault.client import VaultClient
from syncret.providers.vault.spec import VaultCheckAndSet, VaultSpec
from syncret.providers.work import Work
from tests.real.vault.support import found, opened, read
from tests.support.opened import Given, context
from tests.support.servers.gate import gate
from tests.support.servers.vault.running import ROOT_TOKEN, vault

pytestmark = pytest.mark.slow

AUTH = VaultAuth(token_secret_ref=SecretKeySelector(name="t", key="t"))
GIVEN = Given(secrets={"t": {"t": ROOT_TOKEN.encode()}})


def store(path: str = "", version: Literal["v1", "v2"] = "v2", **more: Any) -> VaultSpec:  # noqa: ANN401  # a table's columns
    return replace(VaultSpec(server=vault().url, path=path, version=version, auth=AUTH), **more)


@pytest.fixture
def mount() -> str:
    return vault().mount(version="2")


@pytest.fixture
async def client(mount: str) -> AsyncIterator[VaultClient]:
    async with opened(store(mount), context(GIVEN)) as made:
        yield made


def put(mount: str, key: str, **data: object) -> None:
    vault().write(f"{mount}/data/{key}", data=data)


def data(mount: str, key: str) -> dict[str, Any] | None:
    found = vault().read(f"{mount}/data/{key}")
    return None if found is None else found["data"]


async def push(client: VaultClient, key: str, value: bytes, name: str = "") -> None:
    await client.push(PushItem(key, name, SecretBytes(value)))


async def test_metadata_are_a_value(client: VaultClient, mount: str) -> None:
    put(mount, "db", user="ada")
    vault().write(f"{mount}/metadata/db", custom_metadata={"owner": "ada", "a.b": "x"})

    assert await read(client, "db", "owner", metadata=True) == b"ada"
    assert await read(client, f"{mount}/data/db", "a.b", metadata=True) == b"x"
    assert await read(client, "db", "current_version", metadata=True) == b"1"
    assert await read(client, "db", "delete_version_after", metadata=True) == b"0s"
    assert await read(client, "absent", metadata=True) is None


async def test_version_1_has_no_metadata() -> None:
    mount = vault().mount(version="1")
    async with opened(store(mount, "v1"), context(GIVEN)) as client:
        with pytest.raises(Malformed, match="with kv version v1"):
            await read(client, "db", metadata=True)
        with pytest.raises(Malformed, match="by tag operations with kv version v1"):
            await client.find(FindQuery(name="a", tags=(("a", "b"),)), unpaced, Work())


async def test_a_deleted_entry_is_absent_and_can_be_pushed_again(client: VaultClient, mount: str) -> None:
    await push(client, "db", b'{"a":"1"}')
    vault().request("DELETE", f"{mount}/data/db")
    before = await read(client, "db")
    await push(client, "db", b'{"a":"2"}')

    assert before is None
    assert data(mount, "db") == {"a": "2"}
    assert await read(client, "db", "a") == b"2"


async def test_finds_in_folders_by_the_whole_key(client: VaultClient, mount: str) -> None:
    for key in ("a", "team/a", "team/web/a", "team/web/b c", "other/a"):
        put(mount, key, at=key)
    everything = await found(client, FindQuery(name=""))
    below = await found(client, FindQuery(name="web/", path="team"))
    nothing = await client.find(FindQuery(name="", path="nowhere"), unpaced, Work())

    assert sorted(everything) == ["a", "other/a", "team/a", "team/web/a", "team/web/b c"]
    assert {key: value.raw for key, value in below.items()} == {
        "team/web/a": b'{"at":"team/web/a"}',
        "team/web/b c": b'{"at":"team/web/b c"}',
    }
    assert nothing is None, "Vault has no folder without entries"


async def test_finds_without_a_mount_in_the_store(mount: str) -> None:
    put(mount, "team/a", at="a")
    async with opened(store(), context(GIVEN)) as client:
        keys = list(await found(client, FindQuery(name="a$", path=f"{mount}/data/team")))
        with pytest.raises(Malformed, match="no path to search"):
            await client.find(FindQuery(name="a"), unpaced, Work())
        assert await read(client, f"{mount}/team/a", "at") == b"a"

    assert keys == [f"{mount}/data/team/a"]


async def test_one_folder_that_is_forbidden_fails_the_search(mount: str) -> None:
    put(mount, "open/a", at="a")
    put(mount, "closed/a", at="a")
    rights = {f"{mount}/metadata/": "list", f"{mount}/metadata/open/*": "list", f"{mount}/data/*": "read"}
    given = Given(secrets={"t": {"t": vault().token(vault().policy(**rights)).encode()}})
    async with opened(store(mount), context(given)) as client:
        with pytest.raises(Denied, match="listing closed/: permission denied"):
            await client.find(FindQuery(name="a"), unpaced, Work())

        assert list(await found(client, FindQuery(name="a", path="open"))) == ["open/a"]


async def test_custom_metadata_that_were_there_are_kept(client: VaultClient, mount: str) -> None:
    vault().write(f"{mount}/metadata/db", custom_metadata={"owner": "ada"})
    await push(client, "db", b'{"n":1.0,"deep":{"b":[1]}}')
    metadata = (vault().read(f"{mount}/metadata/db") or {})["custom_metadata"]

    assert metadata == {"owner": "ada", "managed-by": "external-secrets"}


async def test_numbers_and_nested_values_are_compared(mount: str) -> None:
    async with gate(vault().url) as between:
        async with opened(store(mount, server=between.url), context(GIVEN)) as client:
            await push(client, "db", b'{"n":1.0,"deep":{"b":[1],"a":null}}')
            before = len(between.passed)
            await push(client, "db", b'{"deep":{"a":null,"b":[1]},"n":1.0}')

        assert {each.method for each in between.passed[before:]} == {"GET"}


async def test_an_engine_that_demands_check_and_set_is_written(mount: str) -> None:
    vault().write(f"{mount}/config", cas_required=True)
    async with opened(store(mount, check_and_set=VaultCheckAndSet(required=True)), context(GIVEN)) as client:
        await push(client, "db", b"1", "a")
        await push(client, "db", b"2", "b")
        await client.delete(RemoteTarget("db", "a"))

    assert data(mount, "db") == {"b": "2"}


async def test_the_last_property_takes_the_entry_along(client: VaultClient, mount: str) -> None:
    await push(client, "db", b"1", "a")
    existed = await client.exists(RemoteTarget("db", "a"))
    await client.delete(RemoteTarget("db", "a"))

    assert existed
    assert not await client.exists(RemoteTarget("db", "a"))
    assert vault().read(f"{mount}/metadata/db") is None


async def test_a_property_that_is_no_text_is_left_alone(client: VaultClient, mount: str) -> None:
    await push(client, "db", b'{"n":1}')
    with pytest.raises(Malformed, match="error converting n to string"):
        await push(client, "db", b"2", "n")

    assert data(mount, "db") == {"n": 1}


async def test_wrapped_answers_are_unwrapped(mount: str) -> None:
    put(mount, "db", user="ada")
    async with opened(store(mount, headers={"X-Vault-Wrap-TTL": "60"}), context(GIVEN)) as client:
        assert await read(client, "db", "user") == b"ada"


async def test_any_engine_can_be_read_as_version_1() -> None:
    engine = vault().mount("leased-kv")
    vault().write(f"{engine}/creds/app", username="v-app", ttl="60s")
    async with opened(store(version="v1"), context(GIVEN)) as client:
        ref = RemoteRef(f"{engine}/creds/app")
        payload = (await client.fetch([ref.remote_key()]))[ref.remote_key()]

        assert client.fields(payload, ref, Work()) == {  # type: ignore[arg-type]  # no error came
            "username": SecretBytes(b"v-app"),
            "ttl": SecretBytes(b"60s"),
        }


async def test_a_wrong_mount_is_no_absence() -> None:
    async with opened(store("nowhere"), context(GIVEN)) as client:
        with pytest.raises(Malformed, match="no engine is mounted"):
            await read(client, "db")


async def test_a_wrong_version_is_told_where_vault_tells(mount: str) -> None:
    put(mount, "db", user="ada")
    async with opened(store(mount, "v1"), context(GIVEN)) as client:
        with pytest.raises(Malformed, match="another version"):
            await read(client, "db")
