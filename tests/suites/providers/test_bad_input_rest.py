"""What an operator reads when a store with a REST API cannot be used: what is wrong, and no secret."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from aiohttp import web

from syncret.config.fields import Json
from syncret.daemon.one_pass import SyncResult
from tests.suites.providers.test_bad_input import CANARY, TOKEN, message_of, synced
from tests.support.passes import ready
from tests.support.servers.alibaba.server import Kms
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.fortanix.server import Fortanix
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.onepassword.server import Connect
from tests.support.servers.ovh.server import DOMAIN, Ovh
from tests.support.servers.rest import RestServer, running
from tests.support.servers.scaleway.server import PROJECT, Scaleway

KEY: Final = "THE_KEY"
_SELECTED: Final = {"name": "login", "key": "token"}


class Manager(NamedTuple):
    """A running server, and the spec of a store on it."""

    provider: str
    server: RestServer
    spec: Mapping[str, Any]


def _alibaba(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Kms)
    server.key_id = TOKEN
    server.add(KEY, CANARY)
    ref = {"accessKeyIDSecretRef": _SELECTED, "accessKeySecretSecretRef": _SELECTED}
    return {"regionID": "cn-hangzhou", "auth": {"secretRef": ref}}


def _doppler(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Doppler)
    server.secrets[KEY] = CANARY
    return {"project": "shop", "config": "prd", "auth": {"secretRef": {"dopplerToken": _SELECTED}}}


def _gitlab(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Gitlab)
    server.set(KEY, CANARY)
    return {"url": server.url, "projectID": "7", "auth": {"SecretRef": {"accessToken": _SELECTED}}}


def _onepassword(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Connect)
    server.add(KEY, b=CANARY)
    auth = {"secretRef": {"connectTokenSecretRef": _SELECTED}}
    return {"connectHost": server.url, "vaults": {"staging": 1}, "auth": auth}


def _fortanix(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Fortanix)
    server.objects[KEY] = ("SECRET", CANARY.encode())
    return {"apiUrl": server.url, "apiKey": {"secretRef": _SELECTED}}


def _ovh(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Ovh)
    server.secrets[KEY] = [{"b": CANARY}]
    return {"server": server.url, "okmsid": DOMAIN, "auth": {"token": {"tokenSecretRef": _SELECTED}}}


def _infisical(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Infisical)
    server.secrets["/", KEY] = CANARY
    scope = {"projectSlug": "shop", "environmentSlug": "prod"}
    auth = {"tokenAuthCredentials": {"accessToken": _SELECTED}}
    return {"hostAPI": f"{server.url}/api", "auth": auth, "secretsScope": scope}


def _scaleway(server: RestServer) -> Mapping[str, Any]:
    assert isinstance(server, Scaleway)
    server.add(KEY, CANARY.encode())
    keys = {"accessKey": {"value": "SCW"}, "secretKey": {"secretRef": _SELECTED}}
    return {"apiUrl": server.url, "region": "fr-par", "projectId": PROJECT, **keys}


MANAGERS: Final[Mapping[str, tuple[Callable[[], RestServer], Callable[[RestServer], Mapping[str, Any]]]]] = {
    "alibaba": (lambda: Kms(time.time), _alibaba),
    "doppler": (Doppler, _doppler),
    "fortanix": (Fortanix, _fortanix),
    "gitlab": (Gitlab, _gitlab),
    "infisical": (Infisical, _infisical),
    "onepassword": (Connect, _onepassword),
    "ovh": (Ovh, _ovh),
    "scaleway": (Scaleway, _scaleway),
}

SLOW: Final = {"alibaba", "fortanix", "ovh"}
"""Those of the conformance lane."""


def _lanes(name: str) -> object:
    marks = (pytest.mark.slow, pytest.mark.conformance) if name in SLOW else ()
    return pytest.param(name, marks=marks)


@pytest.fixture(params=[_lanes(name) for name in sorted(MANAGERS)])
async def manager(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Manager]:
    make, spec = MANAGERS[request.param]
    server = make()
    server.token = TOKEN
    async with running(server):
        monkeypatch.setenv("ALIBABA_CLOUD_KMS_ENDPOINT", server.url)
        monkeypatch.setenv("DOPPLER_BASE_URL", server.url)
        yield Manager(request.param, server, spec(server))


async def read(
    manager: Manager, folder: Path, key: str = KEY, *, extract: bool = False, **spec: Json
) -> SyncResult:
    if manager.provider == "scaleway":
        key = f"name:{key}"
    return await synced({**manager.spec, **spec}, folder, provider=manager.provider, key=key, extract=extract)


def _said(result: SyncResult) -> str:
    return message_of(result) + message_of(result, "SecretStore")


def _page(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=f"<html>{CANARY}", content_type="text/html")


def _missing_page(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=f"<html>{CANARY}", content_type="text/html", status=404)


def _binary(_request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"\x00\xff" + CANARY.encode(), content_type="application/json")


def _other(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"a": [CANARY, {"b": CANARY}]})


def _huge(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"a": CANARY * 10**6})


def _elsewhere(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://127.0.0.2:1/login"})


def _too_many(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"message": CANARY, "status": 429}, status=429)


def _broken(_request: web.Request) -> web.StreamResponse:
    return web.Response(text=CANARY, status=500)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(_page, "the answer is HTML, not JSON", id="HTML"),
        pytest.param(_missing_page, "HTTP 404, but not from", id="a page that is missing"),
        pytest.param(_binary, "the answer is not JSON", id="binary"),
        pytest.param(_other, "JSON of another shape", id="JSON of another API"),
        pytest.param(_huge, "larger than", id="10 MB"),
        pytest.param(_elsewhere, "which would receive the credentials", id="a redirect to another host"),
        pytest.param(_too_many, "syncret.dev/requests-per-second", id="throttled"),
        pytest.param(_broken, "HTTP 500", id="broken"),
    ],
)
async def test_answers(
    manager: Manager,
    tmp_path: Path,
    answer: Callable[[web.Request], web.StreamResponse],
    expected: str,
) -> None:
    with manager.server.failing(answer):
        result = await read(manager, tmp_path)

    assert expected in _said(result)
    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


async def test_a_token_that_is_wrong(manager: Manager, tmp_path: Path) -> None:
    manager.server.token = "another"
    result = await read(manager, tmp_path)

    assert "the credentials are wrong or expired" in _said(result)
    assert ready(result, "SecretStore")[0] == "False"


async def test_a_token_that_may_not(manager: Manager, tmp_path: Path) -> None:
    with manager.server.failing(manager.server.denied):
        result = await read(manager, tmp_path)

    assert "permission denied" in _said(result)
    assert any(word in _said(result) for word in ("give the", "issue a", "let the"))


async def test_a_text_where_an_object_is_wanted(manager: Manager, tmp_path: Path) -> None:
    result = await read(manager, tmp_path, extract=True)

    assert ready(result, "ExternalSecret") == ("False", "SecretSyncedError")


@pytest.mark.parametrize(
    "key", ["..", "../../v3/me", "a/b", "a b", "%2e%2e", "ä", "a?b=c", "a#b", "x" * 5000, 'a" or "b']
)
async def test_names_stay_where_they_belong(manager: Manager, tmp_path: Path, key: str) -> None:
    """Whatever a key holds, it is a name to the manager, and never another address."""
    result = await read(manager, tmp_path, key)
    known = (
        "/?PageNumber=1&PageSize=1",
        "/?SecretName=",
        "/v3/configs/config/secrets/",
        "/v3/projects?",
        "/api/v4/projects/7/variables",
        "/v1/vaults",
        "/crypto/v1/keys",
        f"/api/{DOMAIN}/v2/secret",
        "/api/v3/secrets/raw/",
        "/api/v3/secrets/raw?",
        "/secret-manager/v1beta1/regions/fr-par/secrets",
    )

    assert ready(result, "ExternalSecret")[0] == "False"
    assert manager.server.calls
    for call in manager.server.calls:
        path = call.partition(" ")[2]
        assert path.startswith(known)
        assert "/../" not in path
        assert path.partition("?")[0].count("/") <= 6
