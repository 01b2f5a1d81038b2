"""What passwords are made of."""

import base64
import binascii
import string
from collections.abc import Callable

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.generators.password import SYMBOLS, PasswordSpec, generate, make_password
from syncret.providers.work import Work
from tests.support.opened import context


def count(password: str, characters: str) -> int:
    return sum(character in characters for character in password)


@pytest.mark.parametrize(
    ("spec", "length", "digits", "symbols"),
    [
        pytest.param(PasswordSpec(), 24, 6, 6, id="defaults"),
        pytest.param(PasswordSpec(length=0), 24, 6, 6, id="zero means the default"),
        pytest.param(PasswordSpec(length=10), 10, 2, 2, id="quarters are cut down"),
        pytest.param(PasswordSpec(length=10, digits=10, symbols=0), 10, 10, 0, id="digits alone"),
        pytest.param(PasswordSpec(length=200, allow_repeat=True), 200, 50, 50, id="repeats"),
        pytest.param(PasswordSpec(length=8, digits=0, symbols=0, no_upper=True), 8, 0, 0, id="lower case"),
    ],
)
def test_counts(spec: PasswordSpec, length: int, digits: int, symbols: int) -> None:
    password = make_password(spec, Work())

    assert (len(password), count(password, string.digits), count(password, SYMBOLS)) == (
        length,
        digits,
        symbols,
    )
    assert spec.allow_repeat or len(set(password)) == len(password)
    assert not spec.no_upper or password == password.lower()


def test_own_symbols() -> None:
    password = make_password(
        PasswordSpec(length=12, symbols=6, digits=0, symbol_characters="-_", allow_repeat=True), Work()
    )

    assert count(password, "-_") == 6
    assert count(password, string.ascii_letters) == 6


def test_no_symbols_at_all_means_the_usual_ones() -> None:
    assert count(make_password(PasswordSpec(symbol_characters=""), Work()), SYMBOLS) == 6


def test_it_is_drawn_anew_each_time() -> None:
    assert len({make_password(PasswordSpec(), Work()) for _ in range(50)}) == 50


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            PasswordSpec(length=44), "number of digits exceeds available digits", id="digits run out"
        ),
        pytest.param(PasswordSpec(length=60, digits=0, symbols=0), "number of letters exceeds", id="letters"),
        pytest.param(
            PasswordSpec(length=10, digits=0, symbols=5, symbol_characters="--__"),
            "number of symbols",
            id="symbols",
        ),
        pytest.param(
            PasswordSpec(length=10, digits=8, symbols=3), "no password of length 10", id="more than all"
        ),
        pytest.param(PasswordSpec(digits=-1), "no password", id="negative"),
        pytest.param(PasswordSpec(length=10**9, allow_repeat=True), "no password", id="absurd"),
    ],
)
def test_an_impossible_spec_is_reported(spec: PasswordSpec, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        make_password(spec, Work())


async def test_one_value_a_key() -> None:
    usual = (await generate(PasswordSpec(), context())).values
    several = (await generate(PasswordSpec(secret_keys=("a", "b")), context())).values

    assert list(usual) == ["password"]
    assert list(several) == ["a", "b"]
    assert several["a"] != several["b"]


@pytest.mark.parametrize("keys", [("a", "a"), ("a", "")])
async def test_keys_are_unique_and_not_empty(keys: tuple[str, ...]) -> None:
    with pytest.raises(Malformed, match="secretKeys must be non-empty and unique"):
        await generate(PasswordSpec(secret_keys=keys), context())


@pytest.mark.parametrize(
    ("spec", "decode"),
    [
        pytest.param(PasswordSpec(encoding="base64"), base64.b64decode, id="base64"),
        pytest.param(PasswordSpec(encoding="base64url"), base64.urlsafe_b64decode, id="base64url"),
        pytest.param(PasswordSpec(encoding="base32"), base64.b32decode, id="base32"),
        pytest.param(PasswordSpec(encoding="hex"), binascii.unhexlify, id="hex"),
    ],
)
async def test_encodings(spec: PasswordSpec, decode: Callable[[bytes], bytes]) -> None:
    encoded = (await generate(spec, context())).values["password"].raw

    assert len(decode(encoded)) == 24
