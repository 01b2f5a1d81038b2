"""Templates that render to a map, and the places inside an object that a path means."""

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.templates import Template
from syncret.daemon.core.manifest import ManifestSink
from syncret.daemon.core.rendering import Rendering, parse_path, put_at_path
from syncret.daemon.core.secret import SecretSink
from syncret.providers.errors import Malformed
from syncret.providers.work import Work


def rendered(text: str) -> dict[str, bytes]:
    template = msgspec.convert({"templateFrom": [{"literal": text}]}, Template)
    values: dict[str, bytes] = {}
    rendering = Rendering(lambda _name, literal, _data: literal.encode(), {}, "default", Work())
    rendering.apply(template, SecretSink({"metadata": {}}, values), {})
    return values


@pytest.mark.parametrize(
    ("written", "text"),
    [
        pytest.param("1.0", "1", id="whole"),
        pytest.param("1.5", "1.5", id="a fraction"),
        pytest.param("100000.0", "100000", id="just without an exponent"),
        pytest.param("1000000.0", "1e+06", id="just with one"),
        pytest.param("1E8", "1e+08", id="an exponent"),
        pytest.param("1234567.25", "1.2345672e+06", id="32 bits"),
        pytest.param("16777217.0", "1.6777216e+07", id="rounded to 32 bits"),
        pytest.param("18446744073709551616", "1.8446744e+19", id="beyond 64 bits"),
        pytest.param("0.0001", "0.0001", id="small"),
        pytest.param("0.00001", "1e-05", id="smaller"),
        pytest.param("-1.0e+40", "-Inf", id="beyond 32 bits"),
        pytest.param("1234567", "1234567", id="an integer"),
        pytest.param("true", "true", id="a boolean"),
        pytest.param("null", "", id="nothing"),
        pytest.param("18446744073709551615", "18446744073709551615", id="64 bits without a sign"),
        pytest.param(".inf", "+Inf", id="endless"),
        pytest.param("'1E8'", "1E8", id="a text"),
        pytest.param('"it\\\'s"', "it's", id="an escape that only Go knows"),
        pytest.param("1\na: 2", "2", id="a key that stands twice"),
        pytest.param("1\n---\na: 2", "1", id="a second document"),
    ],
)
def test_scalars_are_what_go_makes_of_them(written: str, text: str) -> None:
    assert rendered(f"a: {written}") == {"a": text.encode()}


def test_what_follows_the_document_is_not_read() -> None:
    assert rendered("{a: x} canary") == {"a": b"x"}


@pytest.mark.parametrize("written", ["[1]", "a: [canary]", "canary", 'a: "canary\\/"', "...", "\t"])
def test_what_is_no_map_of_scalars(written: str) -> None:
    with pytest.raises(Malformed) as caught:
        rendered(written)
    assert "canary" not in f"{caught.value}{caught.value.hint}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("1.0", 1, id="a float without a fraction"),
        pytest.param("1e3", 1000, id="an exponent"),
        pytest.param("-0.0", 0, id="less than nothing"),
        pytest.param("9223372036854775808", 9223372036854775808.0, id="beyond 64 bits"),
        pytest.param("[1.5, {a: 2.0}]", [1.5, {"a": 2}], id="deeper"),
    ],
)
@pytest.mark.parametrize("scope", ["Values", "KeysAndValues"])
def test_numbers_at_a_path(written: str, value: Json, scope: str) -> None:
    found = at_path(written, scope)
    assert (found, repr(found)) == (value, repr(value))


def test_a_number_that_json_has_not() -> None:
    assert at_path(".inf", "Values") == ".inf"
    with pytest.raises(Malformed, match="a number that JSON has not"):
        at_path(".inf", "KeysAndValues")


def at_path(text: str, scope: str) -> Json:
    source = {"name": "texts", "items": [{"key": "x", "templateAs": scope}]}
    template = msgspec.convert({"templateFrom": [{"configMap": source, "target": "spec.x"}]}, Template)
    held = {ObjectRef("", "ConfigMap", "default", "texts"): {"x": text.encode()}}
    document: Document = {"metadata": {}}
    rendering = Rendering(lambda _name, literal, _data: literal.encode(), held, "default", Work())
    rendering.apply(template, ManifestSink(document), {})
    found: Json = document["spec"]["x"]
    return found


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        pytest.param("spec", ["spec"], id="a key"),
        pytest.param("spec.rules[0].to[2][1]", ["spec", "rules", 0, "to", 2, 1], id="indexes"),
        pytest.param("spec.[1]", ["spec", 1], id="an index behind a dot"),
        pytest.param("spec.l[+01]", ["spec", "l", 1], id="an index with a sign"),
        pytest.param("spec.a]b", ["spec", "a]b"], id="a bracket that closes nothing"),
    ],
)
def test_paths(path: str, steps: list[str | int]) -> None:
    assert parse_path(path) == steps


@pytest.mark.parametrize(
    ("path", "told"),
    [
        pytest.param("spec.", "empty segment", id="an end"),
        pytest.param("spec.a[0]b", "brackets do not match", id="a bracket"),
        pytest.param("[0].a", "must start with a key", id="an index first"),
        pytest.param("a[x]", 'bad index "x"', id="a word"),
        pytest.param("a[ 1]", 'bad index " 1"', id="a space"),
        pytest.param("a[1_0]", 'bad index "1_0"', id="a number as Python writes it"),
        pytest.param("a[\u0661]", "bad index", id="a digit of another script"),
        pytest.param("a[-1]", "negative index -1", id="below 0"),
        pytest.param(".".join(["a"] * 3000), "3000 steps", id="too deep"),
        pytest.param("a[10001]", "exceeds maximum", id="too far"),
    ],
)
def test_what_is_no_path(path: str, told: str) -> None:
    with pytest.raises(Malformed, match=told):
        parse_path(path)


def test_what_is_missing_is_made() -> None:
    target: Document = {"spec": {"keep": 1}}
    put_at_path(target, "spec.list[1].name", lambda _before: "x")

    assert target == {"spec": {"keep": 1, "list": [None, {"name": "x"}]}}


@pytest.mark.parametrize(
    ("spec", "path", "told"),
    [
        pytest.param("text", "spec.a", 'key "a" needs an object', id="no object"),
        pytest.param({"a": {}}, "spec.a[0]", "index 0 needs a list", id="no list"),
    ],
)
def test_what_stands_in_the_way(spec: Json, path: str, told: str) -> None:
    with pytest.raises(Malformed, match=told):
        put_at_path({"spec": spec}, path, lambda before: before)
