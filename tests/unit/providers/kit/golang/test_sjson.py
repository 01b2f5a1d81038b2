"""Properties put into JSON and taken out of it, as sjson does."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import sjson
from syncret.providers.work import Work


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        pytest.param(b"", "a", b'{"a":"x"}', id="into nothing"),
        pytest.param(b"{}", "a.b", b'{"a":{"b":"x"}}', id="nested"),
        pytest.param(b'{"a":1}', "b", b'{"a":1,"b":"x"}', id="beside"),
        pytest.param(b'{"a":1,"b":2}', "a", b'{"a":"x","b":2}', id="in its place"),
        pytest.param(
            b'{"n":1.50,"big":12345678901234567890}',
            "b",
            b'{"n":1.50,"big":12345678901234567890,"b":"x"}',
            id="others untouched",
        ),
        pytest.param(b"{}", r"a\.b", b'{"a.b":"x"}', id="a dot in a name"),
        pytest.param(b'{"l":["y"]}', "l.0", b'{"l":["x"]}', id="an item"),
        pytest.param(b'{"l":["y"]}', "l.-1", b'{"l":["y","x"]}', id="a new item"),
        pytest.param(b'{"l":["y"]}', "l.3", b'{"l":["y",null,null,"x"]}', id="beyond the end"),
        pytest.param(b"", "l.1", b'{"l":[null,"x"]}', id="a new list"),
        pytest.param(b"{}", "l.:1", b'{"l":{"1":"x"}}', id="a number for a name"),
        pytest.param(b'{"a": "x" }', "a", b'{"a": "x" }', id="unchanged is untouched"),
        pytest.param(b'{"a":"\\u0078"}', "a", b'{"a":"\\u0078"}', id="unchanged in other words"),
    ],
)
def test_put(document: bytes, path: str, expected: bytes) -> None:
    assert sjson.put(document, path, b"x", Work()) == expected
    assert sjson.put(expected, path.replace("-1", "1"), b"x", Work()) == expected


@pytest.mark.parametrize(
    ("document", "path"),
    [
        pytest.param(b"canary-1", "a", id="no JSON"),
        pytest.param(b'"canary-1"', "a", id="a string"),
        pytest.param(b'{"a":"canary-1"}', "a.b", id="into a string"),
        pytest.param(b'["canary-1"]', "a", id="a name in a list"),
        pytest.param(b"[]", "99999", id="far beyond the end"),
        pytest.param(b'{"a":"canary-1"}', "a*", id="a search"),
    ],
)
def test_what_has_no_place_is_refused(document: bytes, path: str) -> None:
    with pytest.raises(Malformed) as caught:
        sjson.put(document, path, b"canary-2", Work())
    assert "canary" not in f"{caught.value!r} {caught.value.hint}"


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        pytest.param(b'{"a":1,"b":2}', "a", b'{"b":2}', id="a member"),
        pytest.param(b'{"a":{"b":1,"c":2}}', "a.b", b'{"a":{"c":2}}', id="nested"),
        pytest.param(b'{"a":1}', "a", None, id="the last one"),
        pytest.param(b'{"l":[1,2]}', "l.0", b'{"l":[2]}', id="an item"),
        pytest.param(b'{"a":1}', "b", b'{"a":1}', id="absent"),
        pytest.param(b'{"a":1e999,"b":2}', "b", b'{"a":1e999}', id="beside a number out of range"),
        pytest.param(b"no JSON", "b", b"no JSON", id="no JSON"),
    ],
)
def test_remove(document: bytes, path: str, expected: bytes | None) -> None:
    assert sjson.remove(document, path, Work()) == expected


def test_has() -> None:
    assert sjson.has(b'{"a":{"b":null}}', "a.b", Work())
    assert not sjson.has(b'{"a":{"b":null}}', "a.c", Work())
    assert not sjson.has(b"no JSON", "a", Work())
    assert not sjson.has(b'{"a"', "a", Work())
