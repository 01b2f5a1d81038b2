"""What becomes of results: objects, or what is wrong with them."""

from typing import Final

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.exports.export import Export, export
from syncret.providers.work import Work

CANARY: Final = "hunter2-canary"
LARGE: Final = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(i, self.spec.long).join('')"
"""Eleven times 100,000 bytes."""


def exported(*entries: Document, uid: str = "") -> Export:
    resource = {
        "apiVersion": "a/v1",
        "kind": "K",
        "metadata": {"name": "r", "namespace": "n", **({"uid": uid} if uid else {})},
        "spec": {"long": "é" * 50_000, "big": 2**70, "operatorSpec": {"dynamicSecrets": [*entries]}},
    }
    return export(resource, {"a": CANARY, "n": "x" * 70}, Work())


def entry(value: str, **more: object) -> Document:
    return {"name": "o", "key": "k", "value": value, **more}


def mapped(value: str) -> Document:
    return {"name": "o", "valueMap": value}


def test_an_object_belongs_to_its_resource() -> None:
    (made,) = exported(entry("'v'", labels={"l": "'1'"}), uid="u1").made
    assert made.as_document({"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "r", "uid": "u1"}}) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "o",
            "labels": {"l": "1"},
            "ownerReferences": [{"apiVersion": "a/v1", "kind": "K", "name": "r", "uid": "u1"}],
        },
        "type": "Opaque",
        "data": {"k": "dg=="},
    }


def test_keys_of_a_map_are_in_order() -> None:
    (made,) = exported(
        mapped("{'g': 'x', 'c': 'x', 'a': 'x', 'h': 'x', 'b': 'x', 'e': 'x', 'd': 'x', 'f': 'x'}")
    ).made
    assert [*made.data] == [*"abcdefgh"]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param([mapped("{'k': 'y'}"), entry("'x'")], "collision: 'k'", id="a map that stands first"),
        pytest.param(
            [mapped("{'b': 'x', 'a': 'y'}"), mapped("{'a': 'z', 'b': 'z'}")], "collision: 'a', 'b'", id="maps"
        ),
        pytest.param([entry("'x'", labels={"l": "'a b'"})], "bad_label", id="label"),
        pytest.param([entry("'x'", labels={"l": "secret.n"})], "bad_label", id="long label"),
        pytest.param([entry("'x'", annotations={"l": "''"})], "empty_output", id="empty annotation"),
        pytest.param(
            [entry("'x'", annotations={"l": "dyn({'a': 'b'})"})], "output_type", id="map annotation"
        ),
        pytest.param([entry(LARGE)], "limit", id="large text"),
        pytest.param([mapped("{'a': " + LARGE + "}")], "limit", id="large map"),
        pytest.param([entry("self.spec.long", key=f"k{i}") for i in range(11)], "limit", id="large in sum"),
        pytest.param(
            [entry("'x'", annotations={f"a{i}": "self.spec.long" for i in range(3)})], "limit", id="notes"
        ),
        pytest.param([mapped("dyn({1: 'a'})")], "output_type", id="keys of numbers"),
        pytest.param([mapped("dyn({'a': optional.of('b')})")], "output_type", id="optional in a map"),
        pytest.param([mapped("dyn({'a': null})")], "output_type", id="null in a map"),
        pytest.param([mapped("{'a': 'x', 'a': 'y'}")], "duplicate_key", id="a key twice"),
        pytest.param(
            [mapped("[1, 2].transformMapEntry(i, v, {'a': 'x'})")], "duplicate_key", id="made twice"
        ),
        pytest.param([entry("string(base64.decode('/w=='))")], "conversion", id="no UTF-8"),
        pytest.param([entry("dyn(optional.of('a'))")], "output_type", id="optional"),
    ],
)
def test_failures(entries: list[Document], expected: str) -> None:
    found = exported(*entries)
    kind, _, names = expected.partition(": ")
    assert found.problems[0].kind == kind
    assert names in found.problems[0].message
    assert found.problems[0].stage == "run"
    assert not found.made


def test_all_that_fails_is_told() -> None:
    found = exported(entry("secret.b", key="b"), entry("secret.c", key="c"), entry("'x'"))
    assert [problem.path for problem in found.problems] == [
        "operatorSpec.dynamicSecrets[0].value",
        "operatorSpec.dynamicSecrets[1].value",
    ]
    assert found.hints == ["b", "c"]


def test_numbers_beyond_those_of_the_engine_are_doubles() -> None:
    assert exported(entry("string(self.spec.big)")).made[0].data == {"k": "1.1805916207174113e+21"}


def test_which_marks_come_of_secrets() -> None:
    (made,) = exported(entry("'x'", annotations={"a": "secret.a", "b": "'b'"})).made
    assert made.secret_marks == {"a"}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(
            [mapped("{secret.a + ' ': 'x', 'a b': 'y'}")], "'a b', a key that is made", id="bad key"
        ),
        pytest.param([mapped("{secret.a: ''}")], "for a key that is made of a secret", id="empty text"),
        pytest.param([mapped("{secret.a: 'x'}")] * 2, "a key that is made of a secret", id="collision"),
        pytest.param([mapped("{'k': secret.none}")], "there is no key none", id="missing"),
    ],
)
def test_no_message_names_a_key_that_is_a_secret(entries: list[Document], expected: str) -> None:
    found = exported(*entries)
    assert expected in found.problems[0].message
    assert CANARY not in repr(found.problems)


@pytest.mark.parametrize(
    "source",
    [
        "'x'.matches(secret.a + '(') ? 'y' : 'n'",
        "{'k': 'v'}[secret.a]",
        "self[secret.a]",
        "string(int(secret.a))",
        "string(duration(secret.a))",
        "string(timestamp(secret.a))",
        "string(double(secret.a))",
        "'%f'.format([secret.a])",
        "('%' + secret.a).format([1])",
        "aso.parseResourceId(secret.a).name",
        "string(timestamp(0).getHours(secret.a))",
        "string(base64.decode('!' + secret.a))",
        "self.spec[secret.a].b",
        "{secret.a: 1, secret.a: 2}.size() == 1 ? 'a' : 'b'",
        "secret[secret.a]",
        "[secret.a][5]",
        "secret.a.charAt(500)",
        "secret.a.join(',')",
        "dyn(secret.a).nope",
        "dyn(secret.a)[0]",
        "dyn(secret.a) + 1",
        "dyn([secret.a])",
    ],
)
def test_no_message_tells_a_secret(source: str) -> None:
    found = exported(entry(source))
    assert found.problems
    assert CANARY not in repr(found.problems)
