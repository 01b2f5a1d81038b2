"""Logins to Google by what the machine or a file of credentials says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.gcpsm.spec import GcpAuth
from tests.support.opened import NOW, Clock, Given
from tests.support.servers.google.identity import User
from tests.support.servers.google.logins import Issuer
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.logins import SUBJECT, external, reads

pytestmark = pytest.mark.usefixtures("seeded")

ADC = GcpAuth()


async def test_the_machine_has_an_account(cloud: Google, clock: Clock) -> None:
    with pytest.raises(Malformed, match="logging in as the machine's service account") as caught:
        await reads(Given(), clock, ADC)
    cloud.machine.email = cloud.identity.account("machine")

    assert "write auth into the store" in caught.value.hint
    assert await reads(Given(), clock, ADC, project_id=None) == b"one"


async def test_no_machine_of_google(
    cloud: Google, clock: Clock, monkeypatch: pytest.MonkeyPatch, unused_tcp_port_factory: Callable[[], int]
) -> None:
    monkeypatch.setenv("GCE_METADATA_HOST", f"127.0.0.1:{unused_tcp_port_factory()}")
    with pytest.raises(Unavailable) as caught:
        await reads(Given(), clock, ADC)
    assert "write auth into the store" in caught.value.hint
    with pytest.raises(Unavailable) as caught:
        await reads(Given(), clock, ADC, project_id=None)
    assert "write projectID" in caught.value.hint


def _user(cloud: Google) -> dict[str, object]:
    user = User("ada@example.com")
    cloud.identity.users.append(user)
    cloud.identity.members["acme"].add(user.email)
    return {
        "type": "authorized_user",
        "client_id": user.client_id,
        "client_secret": user.client_secret,
        "refresh_token": user.refresh_token,
        "token_uri": f"{cloud.url}/token",
        "quota_project_id": "pays",
    }


def _impersonator(cloud: Google) -> dict[str, object]:
    email = cloud.identity.account("target")
    cloud.identity.impersonators[email] = {"ada@example.com"}
    usual = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
    return {
        "type": "impersonated_service_account",
        "service_account_impersonation_url": f"{usual}/{email}:generateAccessToken",
        "source_credentials": _user(cloud),
    }


def _key(cloud: Google) -> dict[str, Any]:
    return {**cloud.identity.key_file(cloud.identity.account("file"))}


@pytest.mark.parametrize("where", ["named", "left by gcloud"])
@pytest.mark.parametrize("made", [_key, _user, _impersonator])
async def test_files_of_credentials(
    cloud: Google,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    made: Callable[[Google], dict[str, object]],
) -> None:
    file = tmp_path / "application_default_credentials.json"
    file.write_text(json.dumps(made(cloud)))
    if where == "named":
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    else:
        monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    quota: list[str] = []

    def look(request: web.Request) -> None:
        if request.path.endswith(":access"):
            quota.append(request.headers.get("X-Goog-User-Project", ""))

    with cloud.failing(look):
        assert await reads(Given(), clock, ADC) == b"one"
    assert quota == ["pays" if made is _user else ""]


async def test_a_file_of_a_federation(
    cloud: Google, clock: Clock, issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(issuer.token(SUBJECT, "wanted", now=NOW))
    (tmp_path / "c.json").write_text(json.dumps(external({"file": str(tmp_path / "token")})))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "c.json"))

    assert await reads(Given(), clock, ADC) == b"one"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("canary-8e", "none of Google's", id="no JSON"),
        pytest.param('{"type": "gdch_service_account"}', "kind that is not supported", id="another kind"),
        pytest.param('{"type": "authorized_user", "x": "canary-8e"}', "none of Google's", id="not whole"),
    ],
)
async def test_bad_files_of_credentials(
    cloud: Google, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    (tmp_path / "c.json").write_text(text)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "c.json"))
    with pytest.raises(Malformed, match=problem) as caught:
        await reads(Given(), clock, ADC)

    assert "canary" not in str(vars(caught.value)) + repr(caught.value.__context__)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Malformed, match="cannot be read"):
        await reads(Given(), clock, ADC)
