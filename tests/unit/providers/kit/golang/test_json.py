"""JSON as Go writes and reads it."""

import json
from collections.abc import Callable

import pytest

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work

CANARY = "canary-7f3a"
NESTED: Json = json.loads('{"b": 1, "a": [true, {}], "": null}')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "null", id="null"),
        pytest.param(True, "true", id="true"),
        pytest.param(7, "7", id="int"),
        pytest.param(5432.0, "5432", id="whole float"),
        pytest.param(1.5, "1.5", id="float"),
        pytest.param(-0.0, "-0", id="minus zero"),
        pytest.param(0.000001, "0.000001", id="small"),
        pytest.param(0.0000001, "1e-7", id="smaller"),
        pytest.param(1e20, "100000000000000000000", id="large"),
        pytest.param(1e21, "1e+21", id="larger"),
        pytest.param(1.5e300, "1.5e+300", id="huge"),
        pytest.param("a<b>&c", '"a\\u003cb\\u003e\\u0026c"', id="html"),
        pytest.param(
            '\u2028\x00\x1f\b\f\n\r\t"\\/é', '"\\u2028\\u0000\\u001f\\b\\f\\n\\r\\t\\"\\\\/é"', id="escapes"
        ),
        pytest.param(NESTED, '{"":null,"a":[true,{}],"b":1}', id="sorted and compact"),
        pytest.param(
            gojson.text(b"a\xff\xe2\x82b"), '"a\\ufffd\\ufffd\\ufffdb"', id="invalid UTF-8, byte by byte"
        ),
    ],
)
def test_marshal(value: Json, expected: str) -> None:
    assert gojson.marshal(value, Work()) == expected


def test_html_stays_where_it_is_not_escaped() -> None:
    assert gojson.marshal({"k": "<&>"}, Work(), escape_html=False) == '{"k":"<&>"}'


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        pytest.param(b'{"e":1e400}', True, id="a number without a range"),
        pytest.param(b"-0", True, id="minus zero"),
        pytest.param(b'{"u":"\\ud800"}', True, id="half a character"),
        pytest.param(b"[NaN]", False, id="no number"),
        pytest.param(b"[01]", False, id="a leading zero"),
        pytest.param(b"{} {}", False, id="two documents"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_what_is_valid(document: bytes, *, valid: bool) -> None:
    assert gojson.is_valid(document, Work()) is valid


def test_marshal_refuses_what_json_lacks() -> None:
    with pytest.raises(TypeError):
        gojson.marshal({1, 2}, Work())


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param('{"a": 1.50, "b": [ 1,  2 ]}', {"a": "1.50", "b": "[ 1,  2 ]"}, id="as written"),
        pytest.param('{"a":1,"a":"x"}', {"a": '"x"'}, id="the last one counts"),
        pytest.param(
            ' { "a\\"}" : "]{\\"" , "b" : { "c" : "}" } } ',
            {'a"}': '"]{\\""', "b": '{ "c" : "}" }'},
            id="quotes",
        ),
        pytest.param('{"a":1e999}', {"a": "1e999"}, id="a raw number has no range"),
        pytest.param("null", {}, id="null"),
        pytest.param("{}", {}, id="empty"),
        pytest.param('{"a":null,"b":true,"c":-1e5}', {"a": "null", "b": "true", "c": "-1e5"}, id="scalars"),
    ],
)
def test_raw_fields(document: str, expected: dict[str, str]) -> None:
    assert gojson.raw_fields(document, Work()) == expected


def test_a_secret_map_unquotes_strings_only() -> None:
    document = (
        b'{"s":"a\\n\\u00e9","n":12345678901234567890,"z":null,"o":{ "k" : "\xff" },"t":true,"b":"\xff"}'
    )

    assert gojson.to_secret_map(document, Work()) == {
        "s": "a\né".encode(),
        "n": b"12345678901234567890",
        "z": b"",
        "o": b'{ "k" : "\xff" }',
        "t": b"true",
        "b": "\ufffd".encode(),
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("value", b"value", id="string"),
        pytest.param(None, b"", id="null"),
        pytest.param(False, b"false", id="bool"),
        pytest.param(1e21, b"1000000000000000000000", id="large"),
        pytest.param(1e-6, b"0.000001", id="small"),
        pytest.param(["a", 1.0], b'["a",1]', id="list"),
        pytest.param({"a": "<b>"}, b'{"a":"\\u003cb\\u003e"}', id="object"),
    ],
)
def test_byte_value(value: Json, expected: bytes) -> None:
    assert gojson.byte_value(value, Work()) == expected


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(f'{{"a": "{CANARY}"', id="not closed"),
        pytest.param(f'{{"a": "{CANARY}"}} x', id="more behind it"),
        pytest.param(f'{{"a": NaN, "b": "{CANARY}"}}', id="not a number"),
        pytest.param(f'{{"a": 1e999, "b": "{CANARY}"}}', id="out of range"),
        pytest.param(f'{{"{CANARY}\n": 1}}', id="control character"),
        pytest.param("[" * 5000 + f'"{CANARY}"' + "]" * 5000, id="too deep"),
        pytest.param(f'\ufeff{{"a": "{CANARY}"}}', id="byte order mark"),
        pytest.param("", id="empty"),
    ],
)
@pytest.mark.parametrize("read", [gojson.unmarshal, gojson.unmarshal_object])
def test_errors_hold_nothing_of_the_text(read: Callable[[str, Work], object], document: str) -> None:
    with pytest.raises(Malformed, match="failed to unmarshal JSON") as caught:
        read(document, Work())

    assert caught.value.__context__ is None
    assert CANARY not in f"{caught.value!r} {caught.value}"


@pytest.mark.parametrize("document", ['{"canary-7f3a', "[" * 5000, '{"a":NaN}'])
def test_neither_do_those_of_raw_reading(document: str) -> None:
    with pytest.raises(Malformed, match="failed to unmarshal JSON") as caught:
        gojson.to_secret_map(document, Work())

    assert caught.value.__context__ is None
    assert CANARY not in f"{caught.value!r} {caught.value}"


@pytest.mark.parametrize(
    ("opening", "closing"), [pytest.param("[", "]", id="lists"), pytest.param('{"a":', "}", id="objects")]
)
def test_the_deepest_document_is_read_and_written(opening: str, closing: str) -> None:
    document = opening * gojson.DEEPEST + '"x"' + closing * gojson.DEEPEST
    assert gojson.marshal(gojson.unmarshal(document, Work()), Work()) == document
    with pytest.raises(Malformed, match="nested too deeply"):
        gojson.unmarshal(opening + document + closing, Work())


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("[" + "[]," * 5000 + "[]]", id="side by side"),
        pytest.param('["' + "[" * 5000 + '\\"' + "{" * 5000 + '"]', id="in a string"),
    ],
)
def test_only_what_is_nested_counts(document: str) -> None:
    assert gojson.unmarshal(document, Work()) == json.loads(document)


@pytest.mark.parametrize("document", ["[]", '"x"', "1", "true"])
def test_only_objects_have_fields(document: str) -> None:
    with pytest.raises(Malformed, match="not an object"):
        gojson.raw_fields(document, Work())


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(b'"\\ud83d\\ude00"', "😀", id="pair"),
        pytest.param(b'"\\ud800"', "\ufffd", id="lone half"),
        pytest.param(b'["a\xffb"]', ["a\ufffdb"], id="invalid UTF-8"),
        pytest.param(b"12345678901234567890", 12345678901234567000.0, id="numbers are floats"),
    ],
)
def test_unmarshal(document: bytes, expected: Json) -> None:
    assert gojson.unmarshal(document, Work()) == expected
