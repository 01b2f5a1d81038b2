"""A record opens only as what it was sealed as."""

import os

import pytest

from syncret.daemon.cache.box import Box, Row, key_id, new_names_key, open_names_key
from syncret.daemon.cache.errors import Rejected

ROOT, SALT, NAMES = bytes(range(32)), b"s" * 32, b"n" * 32
BOX = Box(ROOT, SALT, NAMES)
VALUE = b"correct horse battery staple"


def sealed(content: bytes = VALUE, name: str = "a") -> Row:
    return BOX.seal("output", BOX.name(name), b"store", (1000, 0), content)


def test_what_was_sealed_is_opened() -> None:
    assert BOX.open(sealed()) == VALUE


def test_nothing_of_it_is_in_clear() -> None:
    row = sealed()
    assert VALUE not in b"".join(each for each in row if isinstance(each, bytes))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"kind": "read"}, id="another kind"),
        pytest.param({"id": BOX.name("b")}, id="another name"),
        pytest.param({"store": b"other"}, id="another store"),
        pytest.param({"confirmed_at": 1001}, id="made younger"),
        pytest.param({"expires_at": -1}, id="made to last"),
        pytest.param({"size": 1}, id="another size"),
        pytest.param({"key_salt": b"k" * 16}, id="another salt"),
        pytest.param({"keyed_digest": b"d" * 16}, id="another digest"),
        pytest.param({"nonce": b"n" * 12}, id="another nonce"),
        pytest.param({"nonce": b""}, id="no nonce"),
        pytest.param({"box": b""}, id="cut off"),
        pytest.param({"confirmed_at": 2**70}, id="a time that is none"),
    ],
)
def test_a_record_that_was_changed_does_not_open(changed: dict[str, object]) -> None:
    with pytest.raises(Rejected):
        BOX.open(sealed()._replace(**changed))  # type: ignore[arg-type]  # rows of a table


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Box(os.urandom(32), SALT, NAMES), id="another key"),
        pytest.param(Box(ROOT, b"t" * 32, NAMES), id="another file"),
    ],
)
def test_it_opens_with_its_key_and_in_its_file_alone(other: Box) -> None:
    with pytest.raises(Rejected):
        other.open(sealed())


def test_the_same_value_is_never_sealed_alike() -> None:
    first, second = sealed(), sealed()
    assert first.box != second.box
    assert first.key_salt != second.key_salt


def test_a_cloned_machine_uses_another_key_for_another_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same random bytes two values must not share key and nonce: the file would hold their xor."""
    monkeypatch.setattr(os, "urandom", bytes)
    one, two = sealed(b"\0" * 16), sealed(b"\1" * 16)
    assert one.nonce == two.nonce
    assert bytes(a ^ b for a, b in zip(one.box[:16], two.box[:16], strict=True)) != b"\1" * 16


def test_names_of_parts_do_not_run_into_each_other() -> None:
    assert BOX.name("ab", "c") != BOX.name("a", "bc")


def test_the_key_of_names_outlives_the_root_key() -> None:
    wrapped = new_names_key(ROOT, SALT)
    assert len(open_names_key(ROOT, SALT, wrapped)) == 32
    with pytest.raises(Rejected):
        open_names_key(b"x" * 32, SALT, wrapped)
    assert key_id(ROOT) != key_id(b"x" * 32)
