"""What decoding makes of bytes, which of them are refused; keys made fit for a Secret, and turned back."""

import pytest

from syncret.daemon.core.conversion import (
    check_null_bytes,
    convert,
    convert_keys,
    decode,
    decode_map,
    reverse,
    reverse_keys,
    validate_keys,
)
from syncret.providers.errors import Malformed
from syncret.providers.work import Work

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
    assert decode(strategy, value, Work()) == expected


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
        decode(strategy, value, Work())


def test_a_map_decodes_values_and_no_keys() -> None:
    assert decode_map("Base64", {"YmFy": b"YmFy"}, Work()) == {"YmFy": b"bar"}


def test_the_key_that_fails_is_named_and_its_value_is_not() -> None:
    with pytest.raises(Malformed, match="failure decoding key b: ") as caught:
        decode_map("Base64", {"a": b"YmFy", "b": CANARY}, Work())

    assert CANARY.decode() not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"


@pytest.mark.parametrize("policy", ["", "Ignore"])
def test_null_bytes_pass_unless_they_are_refused(policy: str) -> None:
    check_null_bytes(policy, {"a": b"A\x00B"})


def test_null_bytes_are_refused_by_key() -> None:
    check_null_bytes("Fail", {"a": b""})
    with pytest.raises(Malformed, match='"b" contains null bytes'):
        check_null_bytes("Fail", {"a": b"x", "b": b"A\x00B"})


@pytest.mark.parametrize(
    ("strategy", "key", "expected"),
    [
        pytest.param("Default", "/foo/bar$", "_foo_bar_", id="default"),
        pytest.param("", "a b", "a_b", id="unset means default"),
        pytest.param("Default", "A-z_0.9", "A-z_0.9", id="allowed characters stay"),
        pytest.param("Default", "éß٣½", "éß٣½", id="letters and numbers of all scripts stay"),
        pytest.param("Default", "a😀b", "a_b", id="one underscore a character"),
        pytest.param("Unicode", "a/b", "a_U002f_b", id="unicode has four digits"),
        pytest.param("Unicode", "😀", "_U1f600_", id="unicode has five digits"),
        pytest.param("None", "a/b", "a/b", id="none"),
    ],
)
def test_converts(strategy: str, key: str, expected: str) -> None:
    assert convert(strategy, key) == expected


@pytest.mark.parametrize(
    ("strategy", "key", "expected"),
    [
        pytest.param("ReverseUnicode", "a_U002D_b", "a-b", id="upper-case digits"),
        pytest.param("ReverseUnicode", "_U005b__U005d_", "[]", id="one right after the other"),
        pytest.param("ReverseUnicode", "a_U01f600_b", "a_U01f600_b", id="six digits are none"),
        pytest.param("ReverseUnicode", "_Ud800_", "\ufffd", id="half a surrogate pair"),
        pytest.param("None", "a_U002d_b", "a_U002d_b", id="none"),
    ],
)
def test_turns_back(strategy: str, key: str, expected: str) -> None:
    assert reverse(strategy, key) == expected


def test_maps_keep_their_values() -> None:
    assert convert_keys("Default", {"/a": 1, "b/": 2}, Work()) == {"_a": 1, "b_": 2}
    assert reverse_keys("ReverseUnicode", {"a_U002f_b": 1, "c": 2}, Work()) == {"a/b": 1, "c": 2}


def test_two_keys_must_not_become_one() -> None:
    with pytest.raises(Malformed, match="collision during conversion: foo_bar"):
        convert_keys("Default", {"foo$bar": 1, "foo_bar": 2}, Work())
    with pytest.raises(Malformed, match="collision"):
        reverse_keys("ReverseUnicode", {"a_U002d_b": 1, "a-b": 2}, Work())


def test_an_empty_key_is_dropped() -> None:
    assert validate_keys({"": 1, "a": 2}, Work()) == {"a": 2}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("a/b", id="slash"),
        pytest.param("a b", id="space"),
        pytest.param("a\nb", id="line break"),
        pytest.param("../../etc/passwd", id="a way out"),
        pytest.param("a\x00", id="null"),
        pytest.param("x" * 254, id="254 characters"),
        pytest.param("é" * 127, id="254 bytes"),
    ],
)
def test_refuses_what_a_secret_cannot_hold(key: str) -> None:
    with pytest.raises(Malformed):
        validate_keys({"ok": 1, key: 2}, Work())


def test_accepts_the_longest_key() -> None:
    assert validate_keys({"x" * 253: 1}, Work()) == {"x" * 253: 1}
