"""Values of an entry: the same bytes that ESO would deliver."""

import pytest

from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.vault.entries import Payload, fields, value

DOCUMENT = (
    '{"z":"<&>","big":12345678901234567890,"price":1.50,"yes":true,"no":null,"list":[1,2.50],'
    '"a.b":"dotted","a":{"b":"path","json":"{\\"x\\":1}"}}'
)
PAYLOAD = Payload(gojson.unmarshal(DOCUMENT, keep_numbers=True))


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
    assert value(PAYLOAD, name).raw == expected


def test_a_whole_entry_is_go_json() -> None:
    assert value(PAYLOAD, "").raw == (
        b'{"a":{"b":"path","json":"{\\"x\\":1}"},"a.b":"dotted","big":12345678901234567890,"list":[1,2.50],'
        b'"no":null,"price":1.50,"yes":true,"z":"\\u003c\\u0026\\u003e"}'
    )


def test_numbers_of_a_map_pass_through_a_float() -> None:
    found = fields(value(PAYLOAD, ""))

    assert (found["big"].raw, found["price"].raw) == (b"12345678901234567000", b"1.5")


@pytest.mark.parametrize("name", ["absent", "z.x", "big.x", "yes.x.y"])
def test_a_property_that_is_not_there_is_told(name: str) -> None:
    with pytest.raises(Malformed, match=name):
        value(PAYLOAD, name)


def test_without_paths_only_names_count() -> None:
    with pytest.raises(Malformed, match=r"a\.json"):
        value(PAYLOAD, "a.json", paths=False)


def test_a_map_of_what_is_no_object_is_told_without_the_value() -> None:
    with pytest.raises(Malformed) as caught:
        fields(SecretBytes(b'"canary"'))

    assert "canary" not in f"{caught.value!r}{caught.value.__context__!r}"
