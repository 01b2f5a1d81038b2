"""Keys made fit for a Secret, turned back, and checked."""

import pytest

from syncret.daemon.core.conversion import convert, convert_keys, reverse, reverse_keys, validate_keys
from syncret.providers.errors import Malformed


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
    assert convert_keys("Default", {"/a": 1, "b/": 2}) == {"_a": 1, "b_": 2}
    assert reverse_keys("ReverseUnicode", {"a_U002f_b": 1, "c": 2}) == {"a/b": 1, "c": 2}


def test_two_keys_must_not_become_one() -> None:
    with pytest.raises(Malformed, match="collision during conversion: foo_bar"):
        convert_keys("Default", {"foo$bar": 1, "foo_bar": 2})
    with pytest.raises(Malformed, match="collision"):
        reverse_keys("ReverseUnicode", {"a_U002d_b": 1, "a-b": 2})


def test_an_empty_key_is_dropped() -> None:
    assert validate_keys({"": 1, "a": 2}) == {"a": 2}


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
        validate_keys({"ok": 1, key: 2})


def test_accepts_the_longest_key() -> None:
    assert validate_keys({"x" * 253: 1}) == {"x" * 253: 1}
