"""Users of Oracle's cloud: the server forwards a signed request, whose signature Oracle verifies."""

import json

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from tests.support.jwts import pem, private_key
from tests.support.servers.infisical.server import Infisical
from tests.unit.providers.infisical.stores import ORACLE, PARTS, auth_of, reads

USER, TENANCY = "ocid1.user.oc1..aaaa", "ocid1.tenancy.oc1..aaaa"
WITH_PASSWORD = auth_of("ociAuthCredentials", **PARTS, privateKeyPassphrase="password")


@pytest.fixture
def user(server: Infisical) -> dict[str, bytes]:
    """A user at Oracle, whom the identity allows; as the Secret has it."""
    server.clouds.users[USER] = server.clouds.tenancy = TENANCY
    server.clouds.oracle_keys[f"{TENANCY}/{USER}/aa:bb"] = private_key("oci").public_key()
    given = {"user": USER, "tenancy": TENANCY, "region": "eu-frankfurt-1\n", "fingerprint": "aa:bb"}
    return {name: text.encode() for name, text in {**given, "pem": pem(private_key("oci"))}.items()}


async def test_a_signing_key_of_oracle(server: Infisical, user: dict[str, bytes]) -> None:
    await reads(server, ORACLE, user)

    assert server.logins == ["oci-auth"]
    assert server.clouds.bodies[0]["headers"]["host"] == "identity.eu-frankfurt-1.oraclecloud.com"
    assert "PRIVATE" not in json.dumps(server.clouds.bodies)


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
async def test_a_signing_key_with_a_password(
    server: Infisical, user: dict[str, bytes], form: PrivateFormat
) -> None:
    encrypted = BestAvailableEncryption(b" pass word")
    user["pem"] = private_key("oci").private_bytes(Encoding.PEM, form, encrypted)
    await reads(server, WITH_PASSWORD, {**user, "password": b" pass word"})

    assert server.logins == ["oci-auth"]


async def test_a_password_for_a_key_that_has_none(server: Infisical, user: dict[str, bytes]) -> None:
    await reads(server, WITH_PASSWORD, {**user, "password": b"not needed"})

    assert server.logins == ["oci-auth"]


async def test_a_wrong_password(server: Infisical, user: dict[str, bytes]) -> None:
    encrypted = BestAvailableEncryption(b"password")
    user["pem"] = private_key("oci").private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encrypted)
    with pytest.raises(Malformed, match=r"auth\.ociAuthCredentials\.privateKey") as caught:
        await reads(server, WITH_PASSWORD, {**user, "password": b"canary"})

    assert "privateKeyPassphrase" in caught.value.hint
    assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"


@pytest.mark.parametrize("region", [b"evil.example/", b"us-gov-ashburn-1", b"EU-FRANKFURT-1"])
async def test_a_region_that_infisical_does_not_take(
    server: Infisical, user: dict[str, bytes], region: bytes
) -> None:
    with pytest.raises(Malformed, match=r"auth\.ociAuthCredentials\.region"):
        await reads(server, ORACLE, {**user, "region": region})

    assert server.clouds.bodies == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param({"fingerprint": b"cc:dd"}, Unavailable, id="a key that Oracle does not know"),
        pytest.param({"pem": pem(private_key("another")).encode()}, Unavailable, id="another key"),
    ],
)
async def test_a_signature_that_oracle_refuses(
    server: Infisical, user: dict[str, bytes], change: dict[str, bytes], error: type[SyncError]
) -> None:
    with pytest.raises(error) as caught:
        await reads(server, ORACLE, {**user, **change})

    assert "ociAuthCredentials" in caught.value.hint


async def test_another_tenancy(server: Infisical, user: dict[str, bytes]) -> None:
    server.clouds.tenancy = "ocid1.tenancy.oc1..bbbb"
    with pytest.raises(Denied, match="the login is refused"):
        await reads(server, ORACLE, user)
