"""What a remote reference means in a Secret."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kubernetes.secret import Secret, data_of, fields, value
from syncret.providers.values import RemoteRef
from syncret.providers.work import Work

SECRET = Secret(
    {"a": b"x", "file.png": b"\xff", "json": b'{"k":"<v>","list":[1,2]}', "text": b"{canary"},
    {"team": "one"},
    {},
)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        pytest.param(RemoteRef("s", "a"), b"x", id="a key"),
        pytest.param(RemoteRef("s", "file.png"), b"\xff", id="a key with a dot, byte for byte"),
        pytest.param(RemoteRef("s", "json.k"), b"<v>", id="a path"),
        pytest.param(RemoteRef("s", "json.list.1"), b"2", id="a longer path"),
        pytest.param(
            RemoteRef("s"),
            b'{"a":"x","file.png":"\\ufffd","json":"{\\"k\\":\\"<v>\\",\\"list\\":[1,2]}","text":"{canary"}',
            id="everything",
        ),
        pytest.param(
            RemoteRef("s", metadata=True), b'{"annotations":null,"labels":{"team":"one"}}', id="metadata"
        ),
        pytest.param(RemoteRef("s", "annotations", metadata=True), b"null", id="no annotations"),
    ],
)
def test_values(ref: RemoteRef, expected: bytes) -> None:
    assert value(SECRET, ref, Work()) == expected


@pytest.mark.parametrize("name", ["b", "json.none", "json.", ".json", "a.b.c"])
def test_absent_properties(name: str) -> None:
    with pytest.raises(Malformed, match="does not exist in data"):
        value(SECRET, RemoteRef("s", name), Work())


def test_maps() -> None:
    found = fields(SECRET, RemoteRef("s", "json"), Work())

    assert {key: each.raw for key, each in found.items()} == {"k": b'"<v>"', "list": b"[1,2]"}
    assert fields(SECRET, RemoteRef("s"), Work())["file.png"].raw == b"\xff"


@pytest.mark.parametrize(
    ("name", "expected"), [("text", "invalid JSON format"), ("none", "does not exist in key")]
)
def test_what_is_no_map(name: str, expected: str) -> None:
    with pytest.raises(Malformed, match=expected) as caught:
        fields(SECRET, RemoteRef("s", name), Work())
    assert "canary" not in f"{caught.value!r}{SECRET!r}"


@pytest.mark.parametrize("text", ["canary%", "canaryé"])
def test_data_that_no_api_server_stores(text: str) -> None:
    with pytest.raises(Malformed, match="data is not base64") as caught:
        data_of({"data": {"a": text}})
    assert caught.value.hint
    assert caught.value.__context__ is None, "what base64 says may hold the text"
