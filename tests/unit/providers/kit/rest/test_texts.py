"""Texts: properties are read by path or by name, and pushed into what is there."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.testing.opened import compute_at_once
from syncret.providers.values import RemoteRef, SecretBytes
from syncret.providers.work import Work

TEXT = SecretBytes(b'{"a":{"b":"path"},"a.c":"name","n":1}')


class Held(TextWrites[bytes]):
    """Entries in a dict; it counts what is written."""

    def __init__(self, **entries: bytes) -> None:
        self._compute = compute_at_once
        self.entries = entries
        self.writes = 0

    async def entry(self, key: str) -> bytes | None:
        return self.entries.get(key)

    def text(self, entry: bytes) -> bytes:
        return entry

    async def store(self, item: PushItem, text: bytes, entry: bytes | None) -> None:
        assert entry == self.entries.get(item.remote_key)
        self.writes += 1
        self.entries[item.remote_key] = text

    async def remove(self, key: str) -> None:
        self.writes += 1
        del self.entries[key]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("", TEXT.raw, id="whole"),
        pytest.param("a.b", b"path", id="path"),
        pytest.param("a.c", b"name", id="a name with a dot"),
        pytest.param("n", b"1", id="number"),
    ],
)
def test_values(name: str, expected: bytes) -> None:
    assert TextValues().value(TEXT, RemoteRef("k", name), Work()) == SecretBytes(expected)


def test_a_property_that_does_not_exist_names_itself_and_no_value() -> None:
    with pytest.raises(Malformed, match=r"key a\.d does not exist in secret k") as caught:
        TextValues().value(TEXT, RemoteRef("k", "a.d"), Work())

    assert "path" not in str(caught.value)


def test_fields() -> None:
    found = TextValues().fields(TEXT, RemoteRef("k", "a"), Work())

    assert found == {"b": SecretBytes(b"path")}


def pushed(name: str, value: bytes) -> PushItem:
    return PushItem("k", name, SecretBytes(value))


async def test_pushes_that_change_nothing_write_nothing() -> None:
    held = Held(k=b'{"a":"1"}')
    await held.push(pushed("", b'{"a":"1"}'))
    await held.push(pushed("a", b"1"))

    assert (held.writes, held.entries) == (0, {"k": b'{"a":"1"}'})


async def test_members_come_and_go_and_the_last_one_takes_the_entry_with_it() -> None:
    held = Held()
    await held.push(pushed("a", b"1"))
    await held.push(pushed("b", b"2"))
    assert held.entries == {"k": b'{"a":"1","b":"2"}'}
    assert await held.exists(RemoteTarget("k", "b"))
    await held.delete(RemoteTarget("k", "a"))
    await held.delete(RemoteTarget("k", "a"))
    assert not await held.exists(RemoteTarget("k", "a"))
    assert (held.writes, held.entries) == (3, {"k": b'{"b":"2"}'})
    await held.delete(RemoteTarget("k", "b"))
    await held.delete(RemoteTarget("k", "b"))

    assert held.entries == {}
