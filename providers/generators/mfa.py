"""The generator MFA: one-time passwords by time (TOTP, RFC 6238) from a seed in a Secret."""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from math import floor
from typing import Final

from syncret.config.catalog import Scope, SpecType
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Model, SecretKeySelector, Timestamp
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

DEFAULT_LENGTH: Final = 6
DEFAULT_PERIOD: Final = 30
MAX_LENGTH: Final = 100

_SEED: Final = re.compile("[A-Z2-7]*")
_GROUP: Final = 8
_CHARACTER_SIZE: Final = 10
_UNFINISHED: Final = frozenset({1, 3, 6})
"""Numbers of trailing characters that do not make up a whole byte; Go drops such a group."""


class MFASpec(Model):
    """The Secret with the seed, and the parameters of the token.

    Example: {secret: {name: mfa, key: seed}}
    """

    secret: SecretKeySelector
    """The seed in base32, as the other side showed it; without padding. Example: {name: mfa, key: seed}"""
    length: int = 0
    """Digits of the token; zero means six. The other side must expect as many. Example: 8"""
    time_period: int = 0
    """Seconds that a token is valid; zero means thirty. Example: 60"""
    algorithm: str = ""
    """Accepted and not looked at: tokens are made with SHA-1, as the operator makes them. Example: sha1"""
    when: Timestamp | None = None
    """The time of the token, instead of now; only tests need it. Example: '2026-01-01T00:00:00Z'"""


def check(spec: MFASpec, _scope: Scope) -> Iterator[Problem]:
    """A warning of an algorithm that tokens are not made with."""
    if spec.algorithm.lower() not in {"", "sha1"}:
        yield Problem(
            path="algorithm",
            message="tokens are made with SHA-1 all the same: another side that expects this refuses them",
            hint="set the other side to SHA-1, and remove algorithm",
            severity=Severity.WARNING,
            runtime=True,
        )


async def generate(spec: MFASpec, context: OpenContext) -> Generated:
    """Two values: `token`, and `timeLeft` in seconds. Raises Malformed for a seed that is not base32."""
    seed = await context.credentials.secret_key(spec.secret.name, spec.secret.key)
    when = context.now() if spec.when is None else _seconds(spec.when)
    token, left = await context.compute(
        lambda work: totp(
            seed.raw,
            when,
            work,
            length=spec.length if spec.length > 0 else DEFAULT_LENGTH,
            period=spec.time_period if spec.time_period > 0 else DEFAULT_PERIOD,
        )
    )
    return Generated({"token": SecretBytes(token.encode()), "timeLeft": SecretBytes(str(left).encode())})


def totp(
    seed: bytes, when: float, work: Work, *, length: int = DEFAULT_LENGTH, period: int = DEFAULT_PERIOD
) -> tuple[str, int]:
    """The token for a time (epoch seconds), and how many seconds it stays valid."""
    work.take(len(seed), _CHARACTER_SIZE * len(seed))
    if length > MAX_LENGTH:
        raise Malformed(f"a token of {length} digits is too long", hint=f"length is at most {MAX_LENGTH}")
    count, elapsed = divmod(floor(when), period)
    digest = hmac.digest(_decode(seed), (count % 2**64).to_bytes(8), hashlib.sha1)
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF
    return str(number % 10**length).zfill(length), period - elapsed


def _decode(seed: bytes) -> bytes:
    text = seed.decode("utf-8", "replace").replace(" ", "").replace("\r", "").replace("\n", "").upper()
    if not _SEED.fullmatch(text):
        raise Malformed(
            "the seed is not base32", hint="a seed is letters and the digits 2 to 7, without padding"
        )
    rest = len(text) % _GROUP
    if rest in _UNFINISHED:
        text, rest = text[:-rest], 0
    return base64.b32decode(text + "=" * (-rest % _GROUP))


def _seconds(when: str) -> float:
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        raise Malformed("spec.when is not a time", hint="write it as 2026-01-01T00:00:00Z") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


GENERATOR: Final = Generator(SpecType("MFA", MFASpec, check=check), generate=generate, local=True)
