"""Pushes to Key Vault and deletes there, beyond what every provider must do."""

from base64 import b64encode, urlsafe_b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from syncret.providers.errors import Denied, Malformed
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteRef, SecretBytes
from tests.support.jwts import private_key
from tests.support.opened import Clock, Given
from tests.support.servers.azure.files import certificate, pem, pfx
from tests.support.servers.azure.material import created_key, imported_certificate, imported_key
from tests.support.servers.azure.server import Azure
from tests.unit.providers.azurekv.stores import OURS, opened, read, seed

EXPIRES = "2030-01-02T03:04:05Z"


def item(key: str, value: bytes, **spec: Any) -> PushItem:  # noqa: ANN401  # any spec at all
    metadata = {
        "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
        "kind": "PushSecretMetadata",
        "spec": spec,
    }
    return PushItem(key, "", SecretBytes(value), metadata if spec else None, secret_key="k")


def in_pem(key: Any, form: PrivateFormat = PrivateFormat.PKCS8) -> bytes:  # noqa: ANN401  # any private key
    made: bytes = key.private_bytes(Encoding.PEM, form, NoEncryption())
    return made


# -- secrets
async def test_what_stands_beside_a_secret(cloud: Azure, given: Given, clock: Clock) -> None:
    spec = {"expirationDate": EXPIRES, "contentType": "text/plain", "tags": {"team": "a"}}
    async with opened(cloud, given, clock) as client:
        await client.push(item("db", b"one", **spec))
        await client.push(item("secret/db", b"one", **spec))
    [version] = cloud.vault.items["secrets/db"].versions

    assert version.fields == {"value": "one", "contentType": "text/plain"}
    assert version.attributes == {"enabled": True, "exp": 1_893_553_445}
    assert version.tags == {**OURS, "team": "a"}
    assert cloud.vault.writes == 1


@pytest.mark.parametrize(
    ("spec", "versions", "writes"),
    [
        pytest.param({}, 1, 0, id="nothing said"),
        pytest.param({"contentType": "a"}, 1, 0, id="the same type"),
        pytest.param({"contentType": "b"}, 2, 1, id="another type"),
        pytest.param({"expirationDate": EXPIRES}, 2, 1, id="an end"),
        pytest.param({"tags": {"team": "a"}}, 1, 0, id="tags it has"),
        pytest.param({"tags": {"team": "b"}}, 1, 1, id="other tags make no version"),
    ],
)
async def test_changes_beside_the_value(
    cloud: Azure, given: Given, clock: Clock, spec: dict[str, Any], versions: int, writes: int
) -> None:
    body = {"tags": {**OURS, "team": "a", "theirs": "x"}}
    cloud.vault.add("secrets/db", {"value": "one", "contentType": "a"}, body)
    async with opened(cloud, given, clock) as client:
        for _ in range(2):
            await client.push(item("db", b"one", **spec))
    made = cloud.vault.items["secrets/db"].versions

    assert (len(made), cloud.vault.writes) == (versions, writes)
    assert made[-1].fields["contentType"] == spec.get("contentType", "a"), "what nobody names stays"
    if versions == 1:
        assert made[0].tags == {**body["tags"], **spec.get("tags", {})}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        pytest.param(item("db", b"canary\xff"), "holds only text here", id="binary"),
        pytest.param(item("db", b"canary" * 5000), "larger than 25 KiB", id="too large"),
        pytest.param(
            item("db", b"x", tags={"managed-by": "me"}), "Cannot specify a 'managed-by' tag", id="mark"
        ),
        pytest.param(item("db", b"x", expirationDate="tomorrow"), "expiration date", id="no date"),
        pytest.param(item("db", b"x", expirationDate="2030-01-02"), "expiration date", id="no time"),
        pytest.param(item("db", b"x", expirationDate="2030-01-02T03:04:05"), "expiration date", id="no zone"),
        pytest.param(item("db", b"x", expires="x"), "unknown field", id="unknown option"),
        pytest.param(item("a.b", b"x"), "cannot be the name", id="name"),
        pytest.param(item("blob/b", b"x"), "unknown Azure Keyvault object Type", id="kind"),
        pytest.param(item("cert/web", b"canary"), "not a valid certificate", id="no certificate"),
        pytest.param(
            item("cert/web", certificate("web").public_bytes(Encoding.PEM)),
            "no PEM block is one",
            id="a certificate without its key",
        ),
        pytest.param(
            item("cert/web", pem(certificate("web"), "another")), "none belongs to", id="another key"
        ),
        pytest.param(item("key/k", b""), "the value is empty", id="no key"),
        pytest.param(
            item("key/k", b"-----BEGIN PUBLIC KEY-----\ncanary"), "no PEM block is one", id="public"
        ),
        pytest.param(
            item("key/k", b"-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n"),
            "cannot be read",
            id="broken key",
        ),
        pytest.param(
            item("key/k", in_pem(ed25519.Ed25519PrivateKey.generate())), "of a kind", id="another kind of key"
        ),
    ],
)
async def test_what_cannot_be_pushed(
    cloud: Azure, given: Given, clock: Clock, made: PushItem, message: str
) -> None:
    async with opened(cloud, given, clock) as client:
        with pytest.raises(Malformed, match=message) as caught:
            await client.push(made)

    assert "canary" not in str(vars(caught.value)) + repr(caught.value.__context__)
    assert cloud.vault.writes == 0


# -- keys
@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
async def test_rsa_keys(cloud: Azure, given: Given, clock: Clock, form: PrivateFormat) -> None:
    key = private_key("pushed")
    async with opened(cloud, given, clock) as client:
        for _ in range(2):
            await client.push(item("key/k", in_pem(key, form), tags={"team": "a"}))
        await client.push(item("key/k", in_pem(private_key("another"), form), tags={"team": "a"}))
    first, second = cloud.vault.items["keys/k"].versions

    assert first.fields == {"key": created_key(key)}
    assert first.tags == second.tags == {**OURS, "team": "a"}


@pytest.mark.parametrize(
    ("curve", "form"),
    [
        pytest.param(ec.SECP256R1(), PrivateFormat.TraditionalOpenSSL, id="P-256"),
        pytest.param(ec.SECP521R1(), PrivateFormat.PKCS8, id="P-521"),
        pytest.param(ec.SECP256K1(), PrivateFormat.PKCS8, id="P-256K"),
    ],
)
async def test_ec_keys(
    cloud: Azure, given: Given, clock: Clock, curve: ec.EllipticCurve, form: PrivateFormat
) -> None:
    key = in_pem(ec.generate_private_key(curve), form)
    async with opened(cloud, given, clock) as client:
        for _ in range(2):
            await client.push(item("key/k", key))

    assert cloud.vault.writes == 1, "the server has checked that the numbers fit"


async def test_keys_that_are_json(cloud: Azure, given: Given, clock: Clock) -> None:
    numbers = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    text = b'{"kty":"EC","crv":"P-256","x":"%s","y":"%s","d":"%s"}' % tuple(
        _base64url(number)
        for number in (numbers.public_numbers.x, numbers.public_numbers.y, numbers.private_value)
    )
    async with opened(cloud, given, clock) as client:
        await client.push(item("key/k", text))
        await client.push(item("key/k", text))
        with pytest.raises(Malformed, match="finds the request invalid"):
            await client.push(item("key/symmetric", b"0123456789abcdef"))  # these are for managed HSMs only

    assert cloud.vault.writes == 1


def _base64url(number: int) -> bytes:
    return urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=")


# -- certificates
@pytest.mark.parametrize("form", ["PFX", "PKCS8", "PKCS1", "the chain first"])
async def test_certificates(cloud: Azure, given: Given, clock: Clock, form: str) -> None:
    made, other = certificate("web"), certificate("chain")
    forms = {
        "PFX": pfx(made, "web"),
        "PKCS8": pem(made, "web"),
        "PKCS1": pem(made, "web", PrivateFormat.TraditionalOpenSSL),
        "the chain first": other.public_bytes(Encoding.PEM) + pem(made, "web"),
    }
    async with opened(cloud, given, clock) as client:
        for _ in range(2):
            await client.push(item("cert/web", forms[form], tags={"team": "a"}))
        found = await read(client, RemoteRef("cert/web"))
        await client.delete(RemoteTarget("cert/web"))
        gone = await client.exists(RemoteTarget("cert/web"))
    assert found == made.public_bytes(Encoding.DER)
    assert cloud.vault.calls.count("POST certificates/web/import") == 1
    assert not gone


# -- what others made, and what was deleted
@pytest.mark.parametrize("kind", ["secrets", "keys", "certificates"])
async def test_what_others_made(cloud: Azure, given: Given, clock: Clock, kind: str) -> None:
    numbers = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    parts = (numbers.public_numbers.x, numbers.public_numbers.y, numbers.private_value)
    x, y, d = (_base64url(number).decode() for number in parts)
    content = b64encode(pfx(certificate("web"), "web")).decode()
    cases: dict[str, tuple[dict[str, Any], bytes, str]] = {
        "secrets": ({"value": "one"}, b"two", "secret"),
        "keys": (
            {"key": imported_key({"kty": "EC", "crv": "P-256", "x": x, "y": y, "d": d})},
            in_pem(private_key("k")),
            "key",
        ),
        "certificates": (
            imported_certificate({"value": content})[0],
            pfx(certificate("another"), "another"),
            "cert",
        ),
    }
    fields, value, prefix = cases[kind]
    cloud.vault.add(f"{kind}/web", fields, {"tags": {"managed-by": "somebody"}})
    async with opened(cloud, given, clock) as client:
        with pytest.raises(Denied, match="web is not managed by external-secrets"):
            await client.push(item(f"{prefix}/web", value))
        await client.delete(RemoteTarget(f"{prefix}/web"))

        assert await client.exists(RemoteTarget(f"{prefix}/web"))
    assert cloud.vault.writes == 0


async def test_a_name_that_can_still_be_recovered(cloud: Azure, given: Given, clock: Clock) -> None:
    async with opened(cloud, given, clock) as client:
        await client.push(item("db", b"one"))
        await client.delete(RemoteTarget("db"))
        assert await read(client, RemoteRef("db")) is None
        with pytest.raises(Malformed, match="can still be recovered") as caught:
            await client.push(item("db", b"two"))

    assert "purge" in caught.value.hint


async def test_one_who_may_only_read(cloud: Azure, given: Given, clock: Clock) -> None:
    seed(cloud, "db", "one", OURS)
    cloud.vault.members.clear()
    async with opened(cloud, given, clock) as client:
        with pytest.raises(Denied, match="permission denied") as caught:
            await client.push(item("db", b"two"))

    assert "Key Vault Secrets User" in caught.value.hint
