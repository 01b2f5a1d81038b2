"""Records and files in Keeper that cannot be decrypted: they may have any title, so they are no absence."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from syncret.providers.contract import Client, Finder, Keyed, Reader
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import RemoteTarget
from syncret.providers.testing.calls import fields, item, read, writer
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef
from syncret.providers.work import Work
from tests.suites.providers.test_keepersecurity import KeeperHarness, TitledHarness, served
from tests.support.servers.keeper.server import Keeper, uid_of

pytestmark = [pytest.mark.slow, pytest.mark.conformance]


@pytest.fixture
async def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Keeper]:
    async with served(tmp_path, monkeypatch) as server:
        yield server


def _add(keeper: Keeper, title: str, kind: str = "login") -> str:
    usual = [{"type": "password", "value": [f"of {title}"]}]
    keeper.add(uid_of(title), {"title": title, "type": kind, "fields": usual, "custom": []})
    return uid_of(title)


def _damage(keeper: Keeper, uid: str) -> None:
    """Its key is not one that the folder's key opens."""
    keeper.records[uid].key = keeper.records[uid].data


async def _property(client: Client, uid: str, name: str) -> bytes | None:
    """A property, for which no more is read than it needs."""
    assert isinstance(client, Reader)
    assert isinstance(client, Keyed)
    ref = RemoteRef(uid, name)
    [payload] = (await client.fetch([client.remote_key(ref)])).values()
    if isinstance(payload, SyncError):
        raise payload
    found = client.value(payload, ref, Work())
    return None if found is None else found.raw


async def test_records_that_cannot_be_decrypted(keeper: Keeper) -> None:
    """They do not spoil the others of the answer."""
    good, bad, odd = (_add(keeper, name) for name in ("good", "bad", "odd"))
    _damage(keeper, bad)
    keeper.records[odd].data = keeper.records[good].data
    keys = [RemoteKey(uid) for uid in (good, bad, odd)]
    async with KeeperHarness(keeper).open() as client:
        assert isinstance(client, Reader)
        found = await client.fetch(keys)

    assert not isinstance(found[keys[0]], Malformed)
    assert f"record {bad} cannot be decrypted" in str(found[keys[1]])
    assert f"record {odd} cannot be decrypted" in str(found[keys[2]])


async def test_a_search_does_not_miss_them(keeper: Keeper) -> None:
    """What it had found before would be deleted."""
    _add(keeper, "good")
    bad = _add(keeper, "bad")
    _damage(keeper, bad)
    async with TitledHarness(keeper).open() as client:
        assert isinstance(client, Finder)
        with pytest.raises(Malformed, match=f"record {bad} cannot be decrypted") as caught:
            await client.find(FindQuery("^good$"), unpaced, Work())
        assert await read(client, RemoteRef("good", "password")) == b"of good"
        with pytest.raises(Malformed, match=f"record {bad} cannot be decrypted"):
            await read(client, RemoteRef("bad", "password"))

    assert "stop sharing it" in caught.value.hint


async def test_a_push_does_not_make_them_anew(keeper: Keeper) -> None:
    """Neither are they deleted, nor missing."""
    bad = _add(keeper, "bad", "externalSecrets")
    _add(keeper, "good", "externalSecrets")
    _add(keeper, "foreign")
    _damage(keeper, bad)
    async with TitledHarness(keeper).open() as client:
        to = writer(client)
        for title in ("bad", "foreign"):
            for act in (to.exists(RemoteTarget(title)), to.delete(RemoteTarget(title))):
                with pytest.raises(Malformed, match=f"record {bad} cannot be decrypted"):
                    await act
        with pytest.raises(Malformed, match=f"record {bad} cannot be decrypted"):
            await to.push(item("bad/password", b"new"))
        with pytest.raises(Denied, match="not made by a push"):
            await to.push(item("foreign/password", b"new"))
        none = keeper.writes
        there = await to.exists(RemoteTarget("good/password"))
        await to.push(item("good/password", b"new"))
        await to.delete(RemoteTarget("good"))

    assert (none, there, list(keeper.records)) == (0, True, [bad, uid_of("foreign")])


@pytest.mark.parametrize("part", ["fileKey", "data"])
async def test_files_that_cannot_be_decrypted(keeper: Keeper, part: str) -> None:
    """They spoil what needs them, and not the fields; what has no other name may be one of them."""
    uid = _add(keeper, "db")
    keeper.attach(uid, "ca.pem", b"--")
    keeper.attach(uid, "bad.pem", b"--")
    keeper.records[uid].files[1][part] = keeper.records[uid].files[0][part]
    async with TitledHarness(keeper).open() as client:
        held = [await _property(client, uid, name) for name in ("password", "ca.pem")]
        assert isinstance(client, Finder)
        problem = f"a file of record {uid} cannot be decrypted, not even its title"
        for act in (
            _property(client, uid, "bad.pem"),
            read(client, RemoteRef(uid)),
            fields(client, RemoteRef(uid)),
            client.find(FindQuery("db"), unpaced, Work()),
        ):
            with pytest.raises(Malformed, match=problem) as caught:
                await act
            assert "upload it anew" in caught.value.hint

    assert held == [b"of db", b"--"]


async def test_a_file_whose_content_cannot_be_decrypted(keeper: Keeper) -> None:
    uid = _add(keeper, "db")
    keeper.attach(uid, "ca.pem", b"--")
    keeper.contents["/files/0"] = keeper.contents["/files/0"][::-1]
    async with KeeperHarness(keeper).open() as client:
        held = await _property(client, uid, "password")
        for act in (_property(client, uid, "ca.pem"), fields(client, RemoteRef(uid))):
            with pytest.raises(Malformed, match=r"reading file ca\.pem of record .* cannot be decrypted"):
                await act

    assert held == b"of db"
