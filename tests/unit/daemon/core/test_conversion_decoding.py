"""What a decoding strategy makes of bytes, and which values the null-byte policy refuses."""

import pytest

from syncret.daemon.core.conversion import check_null_bytes, decode, decode_map
from syncret.providers.errors import Malformed

CANARY = b"canary-7f3a!"


@pytest.mark.parametrize(
    ("strategy", "value", "expected"),
    [
        pytest.param("None", b"Zm9v", b"Zm9v", id="none"),
        pytest.param("", b"Zm9v", b"Zm9v", id="unset means none"),
        pytest.param("Base64", b"Zm9vJV8/YmFy", b"foo%_?bar", id="standard alphabet"),
        pytest.param("Base64", b"", b"", id="empty"),
        pytest.param("Base64", b"Zm9v\r\nYmFy\n", b"foobar", id="line breaks are skipped"),
        pytest.param("Base64", b"Zm8=\n", b"fo", id="line break after the padding"),
        pytest.param("Base64", b"Zh==", b"f", id="spare bits may be set"),
        pytest.param("Base64", b"AP8=", b"\x00\xff", id="binary"),
        pytest.param("Base64URL", b"Zm9vJV8_YmFy", b"foo%_?bar", id="url alphabet"),
        pytest.param("Auto", b"Zm9vJV8/YmFy", b"foo%_?bar", id="auto takes the standard alphabet"),
        pytest.param("Auto", b"Zm9vJV8_YmFy", b"foo%_?bar", id="auto takes the url alphabet"),
        pytest.param("Auto", b"foo", b"foo", id="auto passes on what is neither"),
        pytest.param("Auto", b"test", b"\xb5\xeb-", id="auto decodes what only looks like it"),
    ],
)
def test_decodes(strategy: str, value: bytes, expected: bytes) -> None:
    assert decode(strategy, value) == expected


@pytest.mark.parametrize(
    ("strategy", "value"),
    [
        pytest.param("Base64", b"Zm8", id="padding missing"),
        pytest.param("Base64", b"Zm9vJV8_YmFy", id="other alphabet"),
        pytest.param("Base64", b"Zm 8=", id="space"),
        pytest.param("Base64", b"Z===", id="one character cannot be padded"),
        pytest.param("Base64", b"Zm8=Zm8=", id="more after the padding"),
        pytest.param("Base64URL", b"Zm9vJV8/YmFy", id="url: other alphabet"),
        pytest.param("Rot13", b"Zm9v", id="unknown strategy"),
    ],
)
def test_refuses(strategy: str, value: bytes) -> None:
    with pytest.raises(Malformed):
        decode(strategy, value)


def test_a_map_decodes_values_and_no_keys() -> None:
    assert decode_map("Base64", {"YmFy": b"YmFy"}) == {"YmFy": b"bar"}


def test_the_key_that_fails_is_named_and_its_value_is_not() -> None:
    with pytest.raises(Malformed, match="failure decoding key b: ") as caught:
        decode_map("Base64", {"a": b"YmFy", "b": CANARY})

    assert CANARY.decode() not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"


@pytest.mark.parametrize("policy", ["", "Ignore"])
def test_null_bytes_pass_unless_they_are_refused(policy: str) -> None:
    check_null_bytes(policy, {"a": b"A\x00B"})


def test_null_bytes_are_refused_by_key() -> None:
    check_null_bytes("Fail", {"a": b""})
    with pytest.raises(Malformed, match='"b" contains null bytes'):
        check_null_bytes("Fail", {"a": b"x", "b": b"A\x00B"})
