"""What a command printed: its end, and never a value, however it is written or cut."""

from base64 import b64encode

import pytest

from syncret.daemon.core.delivery.command_output import KEPT, Redaction

VALUE = b"s3cr3t/p?ss word"
PEM = b"-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n"


@pytest.mark.parametrize(
    ("values", "output", "expected"),
    [
        pytest.param([VALUE], b"bad: " + VALUE + b"!", "bad: [redacted]!", id="plain"),
        pytest.param([VALUE], b64encode(VALUE), "[redacted]", id="base64"),
        pytest.param([VALUE], VALUE.hex().encode(), "[redacted]", id="hex"),
        pytest.param([VALUE], b"GET /?a=s3cr3t%2Fp%3Fss%20word", "GET /?a=[redacted]", id="url"),
        pytest.param([VALUE], b"a=s3cr3t%2Fp%3Fss+word", "a=[redacted]", id="form"),
        pytest.param([PEM], b"line MIIEvQIBADANBg is bad", "line [redacted] is bad", id="a line of it"),
        pytest.param([b"abc"], b"abc", "abc", id="too short to tell anything"),
        pytest.param([b"abcd", b"abcdefgh"], b"abcdefgh", "[redacted]", id="the longer one first"),
        pytest.param([], b"\x1b[31mred\x07\r\nnext\ttab\xff\n", "[31mred\nnext\ttab\ufffd", id="controls"),
    ],
)
def test_values_are_hidden(values: list[bytes], output: bytes, expected: str) -> None:
    assert Redaction(values).end_of(output, is_cut=False) == expected


def test_the_end_is_kept() -> None:
    output = b"x" * KEPT + b"why it failed"
    shown = Redaction([]).end_of(output, is_cut=True)
    assert len(shown) == KEPT
    assert shown.endswith("why it failed")


def test_a_value_that_is_cut_in_two_is_hidden_wherever_the_cut_is() -> None:
    redaction = Redaction([VALUE])
    for place in range(redaction.buffer_size + 2 * len(VALUE)):
        printed = b"." * place + VALUE + b"." * (redaction.buffer_size + 2 * len(VALUE) - place)
        kept = printed[-redaction.buffer_size :]
        shown = redaction.end_of(kept, is_cut=len(kept) < len(printed)).replace("[redacted]", "")
        assert set(shown) <= {"."}, place
