"""One-time passwords, by the vectors of RFC 6238 and beyond."""

from datetime import datetime

import pytest

from syncret.config.catalog import Scope
from syncret.config.fields import SecretKeySelector
from syncret.providers.errors import Malformed
from syncret.providers.generators.mfa import MFASpec, check, generate, totp
from syncret.providers.work import Work
from tests.support.opened import Given, context

SEED = b"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


@pytest.mark.parametrize(
    ("when", "length", "period", "expected"),
    [
        pytest.param("1970-01-01T00:00:59Z", 8, 30, ("94287082", 1), id="rfc: 59"),
        pytest.param("2005-03-18T01:58:29Z", 8, 30, ("07081804", 1), id="rfc: leading zero"),
        pytest.param("2009-02-13T23:31:30Z", 6, 30, ("005924", 30), id="six digits"),
        pytest.param("2009-02-13T23:31:30Z", 6, 60, ("713351", 30), id="a minute"),
        pytest.param("2603-10-11T11:33:20Z", 8, 30, ("65353130", 10), id="rfc: far away"),
        pytest.param("1970-01-01T00:00:59Z", 12, 30, ("001094287082", 1), id="more digits than there are"),
    ],
)
def test_tokens(when: str, length: int, period: int, expected: tuple[str, int]) -> None:
    token, left = totp(SEED, datetime.fromisoformat(when).timestamp(), Work(), length=length, period=period)

    assert (token[-10:], left) == (expected[0][-10:], expected[1])
    assert len(token) == length


def test_a_seed_may_have_spaces_and_lower_case() -> None:
    assert totp(b"gezd gnbv gy3t qojq gezd gnbv gy3t qojq", 59, Work()) == totp(SEED, 59, Work())


@pytest.mark.parametrize("seed", [b"1!", b"MFRGG===", b"\xff"])
def test_a_seed_that_is_none(seed: bytes) -> None:
    with pytest.raises(Malformed, match="the seed is not base32") as caught:
        totp(seed, 59, Work())

    assert caught.value.__context__ is None


def test_a_length_has_a_bound() -> None:
    with pytest.raises(Malformed, match="too long"):
        totp(SEED, 59, Work(), length=10**6)


async def test_reads_the_seed_from_a_secret() -> None:
    spec = MFASpec(secret=SecretKeySelector(name="otp", key="seed"))
    values = (await generate(spec, context(Given(secrets={"otp": {"seed": SEED}})))).values

    assert {key: value.raw for key, value in values.items()} == {"token": b"005924", "timeLeft": b"30"}


async def test_the_time_can_be_fixed() -> None:
    spec = MFASpec(
        secret=SecretKeySelector(name="otp", key="seed"),
        length=8,
        time_period=30,
        when="1970-01-01T00:00:59Z",
    )
    values = (await generate(spec, context(Given(secrets={"otp": {"seed": SEED}})))).values

    assert values["token"].raw == b"94287082"


@pytest.mark.parametrize("algorithm", ["", "sha1", "SHA1"])
def test_sha_1_is_what_tokens_are_made_with(algorithm: str) -> None:
    spec = MFASpec(secret=SecretKeySelector(name="otp", key="seed"), algorithm=algorithm)

    assert list(check(spec, Scope(cluster=False))) == []


def test_another_algorithm_is_warned_of() -> None:
    spec = MFASpec(secret=SecretKeySelector(name="otp", key="seed"), algorithm="sha256")
    [problem] = check(spec, Scope(cluster=False))

    assert (problem.path, problem.fatal) == ("algorithm", False)
