"""Vaults in order, titles and IDs, files, and pushes, on a server written from Connect's OpenAPI document."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.providers.errors import Malformed, SyncError, Unavailable
from syncret.providers.kit.batching import unpaced
from syncret.providers.onepassword import PROVIDER, push
from syncret.providers.onepassword.client import OnePasswordClient
from syncret.providers.onepassword.connection import open_store
from syncret.providers.onepassword.items import Found
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import Given, context
from tests.support.servers.onepassword.server import Connect, id_of
from tests.support.servers.rest import running
from tests.support.specs import spec_of


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    async with running(Connect("staging", "shared", "other")) as server:
        yield server


def opened(
    connect: Connect, vaults: dict[str, int] | None = None
) -> AbstractAsyncContextManager[OnePasswordClient]:
    given = Given(secrets={"login": {"token": connect.token.encode()}})
    auth = {"secretRef": {"connectTokenSecretRef": {"name": "login", "key": "token"}}}
    vaults = vaults or {"shared": 2, "staging": 1}
    document: Document = {"connectHost": connect.url, "vaults": vaults, "auth": auth}
    return open_store(spec_of(PROVIDER, document), context(given))


async def read(client: OnePasswordClient, key: str, name: str = "", version: str = "") -> bytes | None:
    ref = RemoteRef(key, name, version)
    payload = (await client.fetch([client.remote_key(ref)])).get(client.remote_key(ref))
    if isinstance(payload, SyncError):
        raise payload
    found = None if payload is None else client.value(payload, ref, Work())
    return None if found is None else found.raw


async def test_the_first_vault_that_has_the_title_counts(connect: Connect) -> None:
    connect.add('db "main"\\', "shared", password="second")
    connect.add("web", "other", password="not in the store")
    async with opened(connect, {id_of("staging"): 1, "shared": 2}) as client:
        before = await read(client, 'db "main"\\')
        connect.add('db "main"\\', "staging", password="first", user="ada")
        after = await read(client, 'db "main"\\', "user")

        assert (before, after, await read(client, "web")) == (b"second", b"ada", None)


async def test_an_item_by_its_id(connect: Connect) -> None:
    item = connect.add("db", "shared", password="x")
    async with opened(connect) as client:
        assert await read(client, item) == b"x"


async def test_titles_and_labels_must_not_be_ambiguous(connect: Connect) -> None:
    connect.add("twice", password="x")
    connect.add("twice", password="y")
    item = connect.add("labels", a="1")
    connect.items[item]["fields"] *= 2
    async with opened(connect) as client:
        for key, name in (("twice", ""), ("labels", "a")):
            with pytest.raises(Malformed, match="expected one"):
                await read(client, key, name)
        with pytest.raises(Malformed, match="no field labelled 'password'"):
            await read(client, "labels")
        with pytest.raises(Malformed, match="no versions"):
            await read(client, "labels", "a", "2")


async def test_a_field_beside_labels_that_are_ambiguous(connect: Connect) -> None:
    item = connect.add("labels", a="1", b="2")
    connect.items[item]["fields"].append({"id": "x", "label": "a", "value": "3"})
    async with opened(connect) as client:
        payload = (await client.fetch([RemoteKey("labels")]))[RemoteKey("labels")]
        assert isinstance(payload, Found)
        assert client.fields(payload, RemoteRef("labels", "b"), Work()) == {"b": SecretBytes(b"2")}
        for name in ("a", ""):
            with pytest.raises(Malformed, match="expected one field labelled 'a'"):
                client.fields(payload, RemoteRef("labels", name), Work())
        with pytest.raises(Malformed, match="no field labelled 'c'"):
            client.fields(payload, RemoteRef("labels", "c"), Work())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("", b"\x00one", id="the first"),
        pytest.param("b.pem", b"two", id="by name"),
        pytest.param("file/b.pem", b"two", id="as a file"),
        pytest.param("field/note", b"text", id="as a field"),
    ],
)
async def test_files_of_a_document(connect: Connect, name: str, expected: bytes) -> None:
    item = connect.add("doc", note="text")
    connect.attach(item, **{"a.bin": b"\x00one", "b.pem": b"two"})
    async with opened(connect) as client:
        assert await read(client, "doc", name) == expected
        with pytest.raises(Malformed, match=r"there is no file 'c\.pem'"):
            await read(client, "doc", "c.pem")


async def test_many_items_share_the_list_of_titles(connect: Connect) -> None:
    for number in range(20):
        connect.add(f"item-{number}", password="x")
    async with opened(connect) as client:
        keys = [RemoteKey(f"item-{number}") for number in range(20)]
        assert len(await client.fetch(keys)) == 20

    assert len(connect.calls) == 1 + 2 + 20
    assert not [call for call in connect.calls if "filter=" in call]


async def test_a_vault_that_the_token_cannot_see(connect: Connect) -> None:
    async with opened(connect, {"gone": 1}) as client:
        with pytest.raises(Malformed, match="vault gone: there is no such vault"):
            await client.probe()


async def test_searches(connect: Connect) -> None:
    connect.add("one", tags=["team"], user="ada", password="first")
    connect.add("two", tags=["team"], password="second", port="1")
    connect.add("three", "shared", tags=["team"], host="h")
    async with opened(connect) as client:
        tagged = await client.find(FindQuery(tags=(("team", "whatever"),)), unpaced, Work())
        titled = await client.find(FindQuery(path="two", name="^p"), unpaced, Work())
        everything = await client.find(FindQuery(), unpaced, Work())

    assert {name: value.raw for name, value in tagged.items()} == {
        "user": b"ada",
        "password": b"first",
        "port": b"1",
    }
    assert set(titled) == {"password", "port"}
    assert set(everything) == {"user", "password", "port", "host"}


def metadata(**spec: Json) -> Document:
    return {
        "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
        "kind": "PushSecretMetadata",
        "spec": spec,
    }


async def test_a_push_keeps_what_it_does_not_know(connect: Connect) -> None:
    item = connect.add("db", tags=["old"], user="ada", password="x")
    connect.items[item]["sections"] = [{"id": "s"}]
    async with opened(connect) as client:
        await client.push(PushItem("db", "", SecretBytes(b"new"), secret_key="k"))
        await client.push(PushItem("db", "user", SecretBytes(b"ada"), metadata(tags=["t"]), secret_key="k"))
        await client.push(PushItem("db", "user", SecretBytes(b"ada"), metadata(tags=["t"]), secret_key="k"))

    held = connect.items[item]
    assert [(each["label"], each["value"]) for each in held["fields"]] == [
        ("user", "ada"),
        ("password", "new"),
    ]
    assert (held["tags"], held["sections"], connect.writes) == (["t"], [{"id": "s"}], 2)


async def test_a_new_item_is_waited_for(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second push that did not see it yet would create it again."""
    monkeypatch.setattr(push, "_PAUSES", (0.01, 0.01, 0.01))
    connect.hides_new_for = 1
    async with opened(connect) as client:
        item = PushItem("new", "", SecretBytes(b"x"), metadata(vault="shared"), secret_key="k")
        await client.push(item)
        await client.push(item)
        with pytest.raises(Malformed, match="vault other is not among those of the store"):
            await client.push(
                PushItem("else", "", SecretBytes(b"x"), metadata(vault="other"), secret_key="k")
            )

    assert [item["vault"]["id"] for item in connect.items.values()] == [id_of("shared")]


async def test_a_change_is_waited_for(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second push that saw the item as it was would write back the old value of the first one's field."""
    monkeypatch.setattr(push, "_PAUSES", (0.01, 0.01, 0.01))
    item = connect.add("db", a="1", b="2", c="3")
    async with opened(connect) as client:
        connect.shows_old_for = 2
        await client.push(PushItem("db", "a", SecretBytes(b"new"), secret_key="k"))
        await client.delete(RemoteTarget("db", "c"))
        await client.push(PushItem("db", "b", SecretBytes(b"new"), secret_key="k"))
        connect.shows_old_for = 9
        with pytest.raises(Unavailable, match=r"changing item db: .* does not show it yet"):
            await client.push(PushItem("db", "d", SecretBytes(b"x"), secret_key="k"))

    assert {each["label"]: each["value"] for each in connect.items[item]["fields"]} == {
        "a": "new",
        "b": "new",
        "d": "x",
    }


async def test_a_section_without_a_name_keeps_no_item(connect: Connect) -> None:
    item = connect.add("db", a="1")
    connect.items[item]["sections"] = [{"id": "", "label": ""}]
    kept = connect.add("kept", a="1")
    connect.items[kept]["sections"] = [{"id": "", "label": "Notes"}]
    async with opened(connect) as client:
        await client.delete(RemoteTarget("db", "a"))
        await client.delete(RemoteTarget("kept", "a"))

    assert list(connect.items) == [kept]


async def test_an_item_goes_with_its_last_field_unless_it_holds_more(connect: Connect) -> None:
    connect.add("fields", a="1", b="2")
    document = connect.add("doc", a="1")
    connect.attach(document, f=b"x")
    async with opened(connect) as client:
        await client.delete(RemoteTarget("fields", "a"))
        assert await client.exists(RemoteTarget("fields", "b"))
        assert not await client.exists(RemoteTarget("fields", "a"))
        await client.delete(RemoteTarget("fields", "b"))
        await client.delete(RemoteTarget("doc", "a"))
        await client.delete(RemoteTarget("gone"))

    assert list(connect.items) == [document]


async def test_a_whole_secret_is_no_field(connect: Connect) -> None:
    async with opened(connect) as client:
        with pytest.raises(Malformed, match="a field holds one value"):
            await client.push(PushItem("db", "", SecretBytes(b"{}")))
