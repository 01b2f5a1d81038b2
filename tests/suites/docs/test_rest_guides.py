"""The guides of managers with a REST API do what they say, on servers written from the references."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.conjur.server import Conjur
from tests.support.servers.delinea.server import Delinea
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.onepassword.server import Connect
from tests.support.servers.rest import RestServer, running
from tests.support.servers.scaleway.server import Scaleway
from tests.support.servers.senhasegura.server import Senhasegura
from tests.support.tls import Authority


def akeyless() -> Akeyless:
    server = Akeyless()
    server.key = "7d2a-example"
    server.add("/shop/db-password", "tr0ub4dor", "correct horse")
    server.add("/shop/cache", '{"host": "cache.internal"}')
    rotated = {"value": {"username": "ada", "password": "r-1"}}
    server.add("/shop/rotated", rotated, kind="ROTATED_SECRET")
    return server


def doppler() -> Doppler:
    server = Doppler()
    server.token = "dp.st.prd.example"
    cache = '{"host": "cache.internal", "port": 6379}'
    server.secrets |= {"DB_PASSWORD": "correct horse", "CACHE": cache, "MAIL_USER": "ada"}
    return server


def gitlab() -> Gitlab:
    server = Gitlab()
    server.token = "glpat-example"
    server.set("DB_PASSWORD", "anything")
    server.set("DB_PASSWORD", "correct horse", "production")
    server.set("CACHE", '{"server": {"port": 6379}}')
    server.set("MAIL_USER", "ada", "*", "groups", "1")
    return server


def infisical() -> Infisical:
    server = Infisical()
    server.secret = "5b7e-example"
    server.secrets["/web", "DB_PASSWORD"] = "correct horse"
    server.secrets["/web/mail", "MAIL_USER"] = "ada"
    server.secrets["/shared", "CACHE"] = '{"server": {"port": 6379}}'
    return server


def onepassword() -> Connect:
    server = Connect("staging", "shared")
    server.token = "eyJ-example"
    server.add("database", username="ada", password="correct horse")
    server.attach(server.add("authority", "shared"), **{"ca.pem": b"PEM"})
    server.add("mail", host="mail.internal")
    return server


def conjur() -> Conjur:
    server = Conjur(time.time)
    server.key = "3r8qk-example"
    server.versions = {
        "shop/db/password": [b"tr0ub4dor", b"correct horse"],
        "shop/cache": [b'{"server": {"port": 6379}}'],
        "shop/mail/user": [b"ada"],
    }
    server.annotations["shop/mail/user"] = {"team": "mail"}
    return server


def delinea() -> Delinea:
    server = Delinea()
    server.secret = "9f1c-example"
    server.secrets["shop/database"] = {"username": "ada", "password": "correct horse"}
    server.secrets["shop/cache"] = {"host": "cache.internal", "ports": [6379]}
    return server


def scaleway() -> Scaleway:
    server = Scaleway()
    server.token = "3f9b-example"
    server.add("database", b"tr0ub4dor", b"correct horse", path="/shop")
    server.add("cache", b'{"server": {"port": 6379}}')
    server.add("mail-user", b"ada", tags=["mail"])
    return server


def senhasegura() -> Senhasegura:
    server = Senhasegura()
    server.secret = "8f2c-example"
    server.secrets["database"] = [{"username": "ada", "password": "correct horse"}]
    server.secrets["cache"] = [{"host": "cache.internal"}]
    return server


def pushed(server: RestServer) -> object:
    """What the guide's PushSecret has put there; None if the guide has none."""
    if isinstance(server, Conjur | Delinea | Senhasegura):
        return None
    if isinstance(server, Doppler):
        return server.secrets["ISSUED_TOKEN"]
    if isinstance(server, Gitlab):
        held = server.variables["projects", "7"][-1]
        return held["value"], held["environment_scope"], held["masked"], held["protected"]
    if isinstance(server, Akeyless):
        issued = server.items["/shop/issued"]
        return issued["versions"], issued["tags"]
    if isinstance(server, Infisical):
        return server.secrets["/web", "ISSUED_TOKEN"]
    if isinstance(server, Scaleway):
        [*_, issued] = server.secrets.values()
        return issued["path"], issued["name"], issued["versions"]
    assert isinstance(server, Connect)
    item = [*server.items.values()][-1]
    return [(each["label"], each["value"]) for each in item["fields"]], item["tags"]


def _address(server: RestServer) -> str:
    """What stands in a manifest for the server: its URL, or what that is made of."""
    if not isinstance(server, Delinea):
        return server.url
    end = server.url.rpartition(".")[2]
    parts = ("tenant: 127.0.0", f"tld: '{end}'", "urlTemplate: 'http://%s.%s/v1/%s%s'")
    return f"\n{' ' * 6}".join(parts)


@pytest.mark.parametrize(
    ("page", "made", "url", "wanted"),
    [
        pytest.param(
            "akeyless",
            akeyless,
            "https://akeyless.example.com:8080",
            (['{"api-token":"t-1"}'], ["k8s-external-secrets"]),
            id="akeyless",
        ),
        pytest.param("conjur", conjur, "https://conjur.example.com", None, id="conjur"),
        pytest.param("delinea", delinea, "tenant: acme", None, id="delinea"),
        pytest.param("doppler", doppler, "https://api.doppler.com", "t-1", id="doppler"),
        pytest.param(
            "gitlab", gitlab, "https://gitlab.example.com", ("t-1", "production", True, True), id="gitlab"
        ),
        pytest.param("infisical", infisical, "https://infisical.example.com", "t-1", id="infisical"),
        pytest.param(
            "onepassword",
            onepassword,
            "https://connect.example.com:8080",
            ([("api-token", "t-1")], ["issued"]),
            id="onepassword",
        ),
        pytest.param(
            "scaleway",
            scaleway,
            "https://api.scaleway.com",
            ("/shop", "issued", [[b"t-1", True]]),
            id="scaleway",
        ),
        pytest.param("senhasegura", senhasegura, "https://senhasegura.example.com", None, id="senhasegura"),
    ],
)
async def test_the_guide(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    page: str,
    made: Callable[[], RestServer],
    url: str,
    wanted: object,
) -> None:
    shown = {block.title: block.text for block in blocks(ROOT / "docs" / "providers" / f"{page}.md")}
    manifests, output = tmp_path / "manifests", tmp_path / "out"
    manifests.mkdir()
    manager = made()
    # its addresses begin with https, and the page's certificate is one that the machine trusts
    tls = Authority().server(tmp_path) if isinstance(manager, Senhasegura) else None
    async with running(manager, tls) as server:
        monkeypatch.setenv("DOPPLER_BASE_URL", server.url)
        for title in ("store.yaml", "app.yaml", "push.yaml"):
            if title in shown:
                there = shown[title].replace(url, _address(server))
                trusting = "module: DSM\n      ignoreSslCertificate: true"
                (manifests / title).write_text(there.replace("module: DSM", trusting))
        settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
        result = await one_pass(settings, Registry())
        held = {file.name: file.read_text() for file in (output / "default" / "app").iterdir()}

        assert (result.problems, result.failures) == ([], {})
        assert "".join(f"{key}: {held[key]}\n" for key in sorted(held)) == shown["result"]
        assert pushed(server) == wanted
