"""Messages are those of protobuf's own library; whatever else arrives is an error."""

import random

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.grpc.messages import Message, encoded
from tests.support.servers.grpc import schema

KINDS = schema(
    "test",
    All={"text": (1, "string"), "raw": (2, "bytes"), "number": (3, "int64"), "pairs": (2047, "*Pair")},
    Pair={"key": (1, "string"), "value": (2, "string")},
)


@pytest.mark.parametrize("number", [0, 1, 127, 128, 2**31, 2**63 - 1, -1, -(2**63)])
def test_both_ways(number: int) -> None:
    pairs = {"a": "1", "": "ä" * 200}
    theirs = KINDS["All"](text="ä", raw=b"\x00\xff", number=number)
    theirs.pairs.extend(KINDS["Pair"](key=key, value=value) for key, value in pairs.items())
    sent = [(2047, encoded((1, key), (2, value))) for key, value in pairs.items()]

    assert encoded((1, "ä"), (2, b"\x00\xff"), (3, number), *sent) == theirs.SerializeToString()
    ours = Message(theirs.SerializeToString(), "reading")
    assert (ours.text(1), ours.raw(2), ours.integer(3)) == ("ä", b"\x00\xff", number)
    assert ours.texts(2047) == pairs


def test_what_is_absent_is_empty() -> None:
    empty = Message(b"", "reading")

    assert (empty.text(1), empty.raw(1), empty.integer(1), empty.messages(1)) == ("", None, 0, [])
    assert encoded((1, ""), (2, 0), (3, b"")) == b"\x1a\x00", "bytes are there even if they are empty"


def test_other_fields_are_passed_over() -> None:
    fixed = b"\x09" + bytes(8) + b"\x15" + bytes(4)

    assert Message(fixed + encoded((3, "a")), "reading").text(3) == "a"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x0a\x05ab", id="cut off"),
        pytest.param(b"\x0a", id="no length"),
        pytest.param(b"\x80" * 11, id="an endless number"),
        pytest.param(b"\x02\x00", id="field zero"),
        pytest.param(b"\x0b\x0c", id="a group"),
        pytest.param(b"\x09abc", id="a short number"),
        pytest.param(b"<html>canary", id="a page"),
    ],
)
def test_what_is_no_message(content: bytes) -> None:
    with pytest.raises(Malformed, match="reading a: the answer is a message of another shape") as raised:
        Message(content, "reading a")

    assert "canary" not in str(raised.value)


def test_fields_of_other_types() -> None:
    message = Message(encoded((1, 5), (2, b"\xff"), (3, "text")), "reading a")
    for ask in (lambda: message.raw(1), lambda: message.text(2), lambda: message.integer(3)):
        with pytest.raises(Malformed, match="another shape"):
            ask()


def test_many_fields() -> None:
    with pytest.raises(Malformed, match="more than 100000 fields"):
        Message(b"\x08\x01" * 100_001, "reading a")


def test_any_bytes_are_a_message_or_an_error() -> None:
    drawn = random.Random(7)  # noqa: S311  # no secret
    outcomes = {"message": 0, "error": 0}
    for _ in range(500):
        try:
            message = Message(drawn.randbytes(drawn.randrange(20)), "reading")
            for number in range(1, 16):
                message.messages(number)
                message.text(number)
        except Malformed:
            outcomes["error"] += 1
        else:
            outcomes["message"] += 1

    assert all(outcomes.values())
