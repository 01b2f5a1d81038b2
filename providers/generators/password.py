"""The generator Password: random passwords with a set number of digits and symbols."""

import base64
import secrets
import string
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Defaulted, Model
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

SYMBOLS: Final = '~!@#$%^&*()_+`-={}|[]\\:"<>?,./'
DEFAULT_LENGTH: Final = 24
MAX_LENGTH: Final = 65_536
"""A bound against typos; no password is that long."""

_DEFAULT_SHARE: Final = 0.25
"""The default share of digits in a password, and of symbols."""

_CHARACTER_COST: Final = 10
_CHARACTER_SIZE: Final = 20

Encoding = Literal["base64", "base64url", "base32", "hex", "raw"]


class PasswordSpec(Model):
    """The composition of a password. Digits and symbols are a quarter of the length each by default.

    Example: {length: 32, digits: 8, symbols: 4}
    """

    length: int = DEFAULT_LENGTH
    """Number of characters; digits and symbols together may not be more. Example: 32"""
    digits: int | None = None
    """Number of digits; absent: a quarter of the length. Example: 8"""
    symbols: int | None = None
    """Number of symbols; absent: a quarter of the length. Example: 4"""
    symbol_characters: str | None = None
    """Symbols to choose from; absent: all of ASCII that a keyboard has. Example: -_."""
    no_upper: Defaulted[bool] = False
    """Leaves capital letters out."""
    allow_repeat: Defaulted[bool] = False
    """Lets a character occur more than once; without it a long password runs out of characters."""
    encoding: Encoding = "raw"
    """How the password is written once it is made; `raw` as it is. Example: hex"""
    secret_keys: Annotated[tuple[str, ...], Meta(min_length=1)] = ()
    """Keys that each get a password of their own; absent: one password under `password`.
    Example: [user-password, admin-password]"""


async def generate(spec: PasswordSpec, context: OpenContext) -> Generated:
    """One password for each key. Raises Malformed if the spec cannot be satisfied."""
    keys = spec.secret_keys or ("password",)
    if "" in keys or len(set(keys)) != len(keys):
        raise Malformed("secretKeys must be non-empty and unique")
    return await context.compute(lambda work: _passwords(spec, keys, work))


def _passwords(spec: PasswordSpec, keys: Iterable[str], work: Work) -> Generated:
    return Generated({key: SecretBytes(_encode(spec.encoding, make_password(spec, work))) for key in keys})


def make_password(spec: PasswordSpec, work: Work) -> str:
    """One password. Raises Malformed if the spec cannot be satisfied, and OverBudget."""
    length = spec.length if spec.length > 0 else DEFAULT_LENGTH
    digits = int(length * _DEFAULT_SHARE) if spec.digits is None else spec.digits
    symbols = int(length * _DEFAULT_SHARE) if spec.symbols is None else spec.symbols
    if min(digits, symbols) < 0 or digits + symbols > length or length > MAX_LENGTH:
        raise Malformed(
            f"no password of length {length} has {digits} digits and {symbols} symbols",
            hint=f"digits and symbols together are at most the length, and that is at most {MAX_LENGTH}",
        )
    work.take(_CHARACTER_COST * length, _CHARACTER_SIZE * length)
    letters = string.ascii_lowercase if spec.no_upper else string.ascii_letters
    password: list[str] = []
    for noun, characters, count in (
        ("letters", letters, length - digits - symbols),
        ("digits", string.digits, digits),
        ("symbols", spec.symbol_characters or SYMBOLS, symbols),
    ):
        used = () if spec.allow_repeat else password
        password += _pick(noun, characters, count, repeat=spec.allow_repeat, used=used)
    secrets.SystemRandom().shuffle(password)
    return "".join(password)


def _pick(noun: str, characters: str, count: int, *, repeat: bool, used: Iterable[str]) -> list[str]:
    if repeat:
        return [secrets.choice(characters) for _ in range(count)]
    available = sorted(set(characters).difference(used))
    if count > len(available):
        raise Malformed(
            f"number of {noun} exceeds available {noun} and repeats are not allowed",
            hint=f"{count} are asked for, {len(available)} there are: set allowRepeat, or ask for fewer",
        )
    return secrets.SystemRandom().sample(available, count)


def _encode(encoding: Encoding, password: str) -> bytes:
    raw = password.encode()
    match encoding:
        case "raw":
            return raw
        case "base64":
            return base64.b64encode(raw)
        case "base64url":
            return base64.urlsafe_b64encode(raw)
        case "base32":
            return base64.b32encode(raw)
        case "hex":
            return raw.hex().encode()


GENERATOR: Final = Generator(SpecType("Password", PasswordSpec), generate=generate, local=True)
