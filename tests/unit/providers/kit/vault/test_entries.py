"""Which path a remote key means, and which bytes an entry holds: as ESO has it."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.vault.entries import Engine, Payload, Version, fields, joined, value
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work


@pytest.mark.parametrize(
    ("mount", "version", "key", "value", "metadata"),
    [
        pytest.param("kv", "v2", "a/b", "kv/data/a/b", "kv/metadata/a/b", id="plain"),
        pytest.param("kv", "v2", "kv/a", "kv/data/a", "kv/metadata/a", id="with the mount"),
        pytest.param("kv", "v2", "kv/data/a", "kv/data/a", "kv/metadata/a", id="with mount and data"),
        pytest.param("kv", "v2", "data/a", "kv/data/data/a", "kv/metadata/data/a", id="a folder called data"),
        pytest.param("team/kv", "v2", "a", "team/kv/data/a", "team/kv/metadata/a", id="a mount of two parts"),
        pytest.param("kv", "v1", "a/b", "kv/a/b", "kv/a/b", id="v1"),
        pytest.param("kv", "v1", "kv/data/a", "kv/data/a", "kv/data/a", id="v1 knows no data"),
        pytest.param("", "v2", "kv/a/b", "kv/data/a/b", "kv/metadata/a/b", id="the mount begins the key"),
        pytest.param("", "v2", "t/kv/data/a", "t/kv/data/a", "t/kv/metadata/a", id="data parts the key"),
        pytest.param("", "v1", "kv/a", "kv/a", "kv/a", id="v1: the key is the path"),
    ],
)
def test_a_key_means_a_place(mount: str, version: Version, key: str, value: str, metadata: str) -> None:
    engine = Engine(mount, version)

    assert (engine.value_path(key), engine.metadata_path(key)) == (value, metadata)


def test_a_literal_engine_takes_keys_as_they_are() -> None:
    assert Engine("kv", "v2", literal=True).value_path("kv/data/a") == "kv/data/kv/data/a"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(("a//b/", "", "/c"), "a/b/c", id="empty segments vanish"),
        pytest.param(("kv", "a b/c?d#e%"), "kv/a%20b/c%3Fd%23e%25", id="quoted"),
        pytest.param(("kv", "ä"), "kv/%C3%A4", id="UTF-8"),
    ],
)
def test_a_path_is_quoted(parts: tuple[str, ...], expected: str) -> None:
    assert joined(*parts) == expected


@pytest.mark.parametrize("key", ["../sys/mounts", "a/../../b", "a/./b", ".."])
def test_a_key_is_never_a_way_out_of_its_engine(key: str) -> None:
    with pytest.raises(Malformed, match="segments"):
        Engine("kv", "v2").value_path(key)


DOCUMENT = (
    '{"z":"<&>","big":12345678901234567890,"price":1.50,"yes":true,"no":null,"list":[1,2.50],'
    '"a.b":"dotted","a":{"b":"path","json":"{\\"x\\":1}"}}'
)
PAYLOAD = Payload(gojson.unmarshal(DOCUMENT, Work(), keep_numbers=True))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("z", b"<&>", id="text"),
        pytest.param("big", b"12345678901234567890", id="a number beyond floats"),
        pytest.param("price", b"1.50", id="a number as it was written"),
        pytest.param("yes", b"true", id="true"),
        pytest.param("no", b"", id="null"),
        pytest.param("list", b"[1,2.50]", id="a list"),
        pytest.param("a.b", b"dotted", id="a name goes before a path"),
        pytest.param("a.json", b'{"x":1}', id="a path"),
        pytest.param("list.#", b"2", id="a path that counts"),
    ],
)
def test_properties(name: str, expected: bytes) -> None:
    assert value(PAYLOAD, name, Work()).raw == expected


def test_a_whole_entry_is_go_json() -> None:
    assert value(PAYLOAD, "", Work()).raw == (
        b'{"a":{"b":"path","json":"{\\"x\\":1}"},"a.b":"dotted","big":12345678901234567890,"list":[1,2.50],'
        b'"no":null,"price":1.50,"yes":true,"z":"\\u003c\\u0026\\u003e"}'
    )


def test_numbers_of_a_map_pass_through_a_float() -> None:
    found = fields(value(PAYLOAD, "", Work()), Work())

    assert (found["big"].raw, found["price"].raw) == (b"12345678901234567000", b"1.5")


@pytest.mark.parametrize("name", ["absent", "z.x", "big.x", "yes.x.y"])
def test_a_missing_property_is_reported(name: str) -> None:
    with pytest.raises(Malformed, match=name):
        value(PAYLOAD, name, Work())


def test_without_paths_only_names_count() -> None:
    with pytest.raises(Malformed, match=r"a\.json"):
        value(PAYLOAD, "a.json", Work(), paths=False)


def test_a_map_of_a_value_that_is_no_object_is_reported_without_the_value() -> None:
    with pytest.raises(Malformed) as caught:
        fields(SecretBytes(b'"canary"'), Work())

    assert "canary" not in f"{caught.value!r}{caught.value.__context__!r}"
