"""Service accounts of Google: of the daemon's machine, and those whose key file a manifest names."""

import json
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.providers.errors import Denied, Malformed
from tests.support.jwts import pem, private_key
from tests.support.servers.google.server import Google
from tests.support.servers.infisical.server import Infisical
from tests.unit.providers.infisical.stores import GOOGLE, GOOGLE_KEY, reads


async def test_the_identity_token_of_the_machine(server: Infisical, machine: Google) -> None:
    """It is good for this identity of Infisical alone."""
    await reads(server, GOOGLE)
    server.clouds.identity = "i-2"

    assert server.logins == ["gcp-auth"]
    assert await server.clouds.verdict("gcp-auth", {**server.clouds.bodies[0], "identityId": "i-2"}) == 401


async def test_another_machine_is_not_allowed(server: Infisical, machine: Google) -> None:
    machine.machine.email = "eve@acme.iam.gserviceaccount.com"
    with pytest.raises(Denied, match="the login is refused") as caught:
        await reads(server, GOOGLE)

    assert "gcpIdTokenAuthCredentials" in caught.value.hint


async def test_a_machine_without_an_account(server: Infisical, machine: Google) -> None:
    machine.machine.email = ""
    with pytest.raises(Malformed, match="it has no answer") as caught:
        await reads(server, GOOGLE)

    assert "gcpIamAuthCredentials" in caught.value.hint


def key_file(path: Path, email: str, **changed: str) -> bytes:
    """A key of the account in a file; its path."""
    key = {"type": "service_account", "client_email": email, "private_key_id": "kid-1"}
    path.write_text(json.dumps({**key, "private_key": pem(private_key("gcp")), **changed}))
    return str(path).encode()


async def test_the_key_file_of_a_service_account(server: Infisical, tmp_path: Path) -> None:
    email = server.clouds.email = "shop@acme.iam.gserviceaccount.com"
    server.clouds.google_type = "iam"
    server.clouds.google_keys["kid-1"] = private_key("gcp").public_key()
    await reads(server, GOOGLE_KEY, {"path": key_file(tmp_path / "key.json", email)})

    assert server.logins == ["gcp-auth"]
    assert list(server.clouds.bodies[0]) == ["identityId", "jwt"]


async def test_a_key_that_google_does_not_know(server: Infisical, tmp_path: Path) -> None:
    email = server.clouds.email = "shop@acme.iam.gserviceaccount.com"
    server.clouds.google_type = "iam"
    server.clouds.google_keys["kid-1"] = private_key("another").public_key()
    with pytest.raises(Denied, match="the login is refused") as caught:
        await reads(server, GOOGLE_KEY, {"path": key_file(tmp_path / "key.json", email)})

    assert "gcpIamAuthCredentials" in caught.value.hint


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        pytest.param(b"/etc/hostname", "outside of the folders", id="another folder"),
        pytest.param(b"/var/run/secrets/kubernetes.io/x", "the daemon's own token", id="the daemon's own"),
    ],
)
async def test_a_key_file_that_manifests_may_not_name(server: Infisical, path: bytes, problem: str) -> None:
    with pytest.raises(Malformed, match=problem):
        await reads(server, GOOGLE_KEY, {"path": path})

    assert server.clouds.bodies == []


async def test_the_daemon_s_own_key_file(
    server: Infisical, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its author might name another server, too."""
    path = key_file(tmp_path / "key.json", "shop@acme.iam.gserviceaccount.com")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", path.decode())
    with pytest.raises(Malformed, match="the daemon's own token"):
        await reads(server, GOOGLE_KEY, {"path": path})


async def test_a_file_that_is_no_key(server: Infisical, tmp_path: Path) -> None:
    path = key_file(tmp_path / "key.json", "shop@acme.iam.gserviceaccount.com", private_key="canary")
    with pytest.raises(Malformed, match=r"gcpIamAuthCredentials\.serviceAccountKeyFilePath") as caught:
        await reads(server, GOOGLE_KEY, {"path": path})

    assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"


@pytest.mark.parametrize(
    "identity", [b"https://app.example", b"vault/admin", b"1.apps.googleusercontent.com", b""]
)
@pytest.mark.parametrize("auth", [GOOGLE, GOOGLE_KEY], ids=["a machine", "a key file"])
async def test_no_token_for_another_audience(
    server: Infisical, machine: Google, identity: bytes, auth: dict[str, Json]
) -> None:
    """Other servers would accept it."""
    with pytest.raises(Malformed, match=r"identityId is no ID"):
        await reads(server, auth, {"id": identity, "path": b"/tmp/key.json"})

    assert machine.machine.asked == []
