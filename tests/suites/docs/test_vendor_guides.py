"""The guides of more managers do what they say; what stands for a server of the vendor's leads to ours."""

import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.suites.docs.guides import follow
from tests.support.servers.alibaba.server import Kms
from tests.support.servers.barbican.server import Barbican
from tests.support.servers.beyondtrust.server import BASE, PasswordSafe
from tests.support.servers.beyondtrust_workload.server import WorkloadCredentials
from tests.support.servers.bitwarden.server import Bitwarden
from tests.support.servers.chef.server import Chef
from tests.support.servers.dvls.server import Dvls
from tests.support.servers.fortanix.server import Fortanix
from tests.support.servers.github.server import Github
from tests.support.servers.keeper.server import Keeper, uid_of
from tests.support.servers.ngrok.server import Ngrok
from tests.support.servers.onboardbase.server import Onboardbase
from tests.support.servers.onepassword_service.server import OnePassword
from tests.support.servers.onepassword_service.trust import trusted
from tests.support.servers.oracle.server import Oracle
from tests.support.servers.ovh.server import Ovh
from tests.support.servers.passbolt.server import ACCOUNT, PASSPHRASE, Passbolt
from tests.support.servers.passworddepot.server import PasswordDepot
from tests.support.servers.previder.server import Previder
from tests.support.servers.pulumi.server import Pulumi
from tests.support.servers.rest import RestServer, running
from tests.support.servers.secretserver.server import SecretServer
from tests.support.servers.volcengine.server import Volcengine
from tests.support.servers.yandex.server import Yandex
from tests.support.tls import Authority, trust

pytestmark = pytest.mark.slow

AUTHORITY: Final = Authority()


class Guide(NamedTuple):
    """One page: its server, and where the page's text leads to another one."""

    server: RestServer
    here: Callable[[], dict[str, str]]
    """What the page says, and what is true here; asked once the server runs."""
    pushed: Callable[[], object] = lambda: None
    wanted: object = None
    tls: bool = False


def secretserver() -> Guide:
    server = SecretServer()
    server.password = "ss-example"
    server.add("database", password="correct horse")
    server.add("cache", value='{"server": {"port": 6379}}')
    here = "https://shop.secretservercloud.com"

    def issued() -> object:
        held = [each["items"] for each in server.secrets.values() if each["name"] == "issued"]
        return [each["itemValue"] for items in held for each in items]

    return Guide(server, lambda: {here: server.url}, issued, ["", "", "t-1"])


def yandex(kind: str) -> Guide:
    server = Yandex(time.time)
    server.secrets["database"] = [{"user": "ada", "password": "correct horse"}]
    server.secrets["mail"] = [{"host": "mail.internal"}]
    server.certificates["shop"] = [(["CERTIFICATE"], "KEY")]
    example = '{"id": "ajek-example", "service_account_id": "aje-example"'
    authority = AUTHORITY.pem.decode().replace("\n", "\n    ")

    def here() -> dict[str, str]:
        ca = "      caProvider: {certSecretRef: {name: yandex-login, key: ca.crt}}\n"
        return {
            f'{example}, "private_key": "-----BEGIN PRIVATE KEY-----..."}}': server.key_file().decode()
            + f"\n  ca.crt: |\n    {authority}",
            f"    {kind}:\n": f"    {kind}:\n      apiEndpoint: {server.url.removeprefix('https://')}\n{ca}",
        }

    return Guide(server, here, tls=True)


def alibaba() -> Guide:
    server = Kms(time.time)
    server.token = "alibaba-example"
    server.add("database", "tr0ub4dor", "correct horse")
    server.add("cache", '{"server": {"host": "cache.internal"}}')
    return Guide(server, dict[str, str], lambda: [*server.secrets["api-token"].versions.values()], ["t-1"])


def barbican() -> Guide:
    server = Barbican(time.time)
    server.password = "os-example"
    server.secrets = {
        "6f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f": b"correct horse",
        "7a1b2c3d-8a6b-4c5d-9e7f-2a3b4c5d6e7f": b'{"host": "cache.internal", "port": 6379}',
    }
    return Guide(server, lambda: {"https://keystone.example.com": f"{server.url}/identity"})


def beyondtrust() -> Guide:
    server = PasswordSafe()
    server.key = "bt-example"
    server.add("shop/prod", "database", "correct horse")
    server.add("shop", "cache", '{"server": {"port": 6379}}', "Text")

    def issued() -> object:
        return [each["Password"] for each in server.secrets.values() if each["Title"] == "issued"]

    here = f"https://safe.example.com{BASE}"
    return Guide(server, lambda: {here: f"{server.url}{BASE}"}, issued, ["t-1"])


def dvls() -> Guide:
    server = Dvls()
    server.secret = "dvls-example"
    server.add("database", "shop", username="ada", password="correct horse")
    server.add("mail", "", "ApiKey", apiId="7", apiKey="k-1")

    def issued() -> object:
        return [each["data"] for each in server.entries.values() if each["name"] == "issued"]

    here = "https://dvls.example.com"
    return Guide(server, lambda: {here: f"{server.url}\n      insecure: true"}, issued, [{"password": "t-1"}])


def bitwarden() -> Guide:
    server = Bitwarden()
    server.token = "0.bitwarden-example"
    server.add("database", "correct horse")
    server.add("cache", '{"server": {"host": "cache.internal"}}')
    server.add("mail", "user: ada")

    def issued() -> object:
        held = [*server.secrets.values()][-1]
        return held["key"], held["value"], held["note"]

    here = "https://bitwarden.example.com:9998"
    return Guide(server, lambda: {here: server.url}, issued, ("api-token", "t-1", "of the shop"))


def chef() -> Guide:
    server = Chef(time.time)
    server.bags = {
        "shop": {"database": {"id": "database", "password": "correct horse"}},
        "mail": {"host": {"id": "host", "name": "mail.internal"}},
    }
    key = server.key_file().decode().strip().replace("\n", "\n    ")
    return Guide(
        server,
        lambda: {"https://chef.example.com": server.url, "-----BEGIN RSA PRIVATE KEY-----...": key},
        lambda: server.bags["shop"]["issued"],
        {"id": "issued", "token": "t-1"},
    )


def fortanix() -> Guide:
    server = Fortanix()
    server.token = "Zm9ydGFuaXg="
    server.objects = {
        "database": ("SECRET", b'{"password": "correct horse"}'),
        "mail-host": ("OPAQUE", b"mail.internal"),
    }
    server.metadata["mail-host"] = {"team": "mail"}
    return Guide(server, lambda: {"https://sdkms.fortanix.com": server.url})


def github() -> Guide:
    server = Github()
    key = server.key_file().decode().strip().replace("\n", "\n    ")
    example = "(the private key of the writing App, as GitHub gave it)"
    return Guide(
        server,
        lambda: {"https://github.example.com/": f"{server.url}/", example: key},
        lambda: server.value_of("/repos/acme/web/actions", "DEPLOY_TOKEN"),
        b"t-1",
    )


def ngrok() -> Guide:
    server = Ngrok()
    server.token = "ngrok-example"
    return Guide(
        server, lambda: {"https://api.ngrok.com": server.url}, lambda: server.value_of("issued"), "t-1"
    )


def oracle() -> Guide:
    server = Oracle(time.time)
    server.add("database", b"tr0ub4dor", b"correct horse")
    server.add("mail", b'{"user": "ada"}')
    key = server.key_file().decode().strip().replace("\n", "\n    ")
    example = "(the private key of the user, as Oracle gave it)"
    return Guide(server, lambda: {example: key}, lambda: server.secrets["api-token"]["versions"], [b"t-1"])


def previder() -> Guide:
    server = Previder()
    server.token = "pv-example"
    server.secrets = {"database": "correct horse", "mail-password": "t0p"}
    return Guide(server, lambda: {"https://vault.previder.io": server.url})


def pulumi() -> Guide:
    server = Pulumi()
    server.token = "pul-example"
    server.set("db", {"password": {"fn::secret": "correct horse"}})
    server.set("hosts", ["a.internal"])
    server.set("mail", {"user": "ada"})
    return Guide(
        server,
        lambda: {"https://api.pulumi.com": server.url},
        lambda: server.values["api"],
        {"token": {"fn::secret": "t-1"}},
    )


def volcengine() -> Guide:
    server = Volcengine(time.time)
    server.token = "volcengine-example"
    server.secrets = {
        "database": ["tr0ub4dor", "correct horse"],
        "cache": ['{"server": {"host": "cache.internal"}}'],
    }
    return Guide(server, dict[str, str], lambda: server.secrets["api-token"], ["t-1"])


def workload_credentials() -> Guide:
    server = WorkloadCredentials()
    server.token = "bt-example"
    server.secrets = {"shop/database": {"password": "correct horse"}, "shop/mail": {"host": "mail.internal"}}
    authority = b64encode(AUTHORITY.pem).decode()
    here = "folderPath: shop\n      caBundle: "
    return Guide(
        server,
        lambda: {
            "https://api.beyondtrust.io": server.url,
            "folderPath: shop": f"{here}{authority}",
        },
        tls=True,
    )


def onboardbase() -> Guide:
    server = Onboardbase()
    server.token, server.passcode = "ob-example", "correct-staple"
    server.secrets = {
        "DB_PASSWORD": "correct horse",
        "CACHE": '{"server": {"port": 6379}}',
        "MAIL_USER": "ada",
    }
    return Guide(server, lambda: {"https://public.onboardbase.com": server.url})


def ovh() -> Guide:
    server = Ovh()
    server.token = "ovh-example"
    server.secrets = {
        "shop/database": [{"password": "tr0ub4dor"}, {"password": "correct horse"}],
        "shop/mail": [{"host": "mail.internal"}],
    }
    return Guide(
        server,
        lambda: {"https://eu-west-rbx.okms.ovh.net": server.url},
        lambda: server.secrets["shop/issued"],
        [{"token": "t-1"}],
    )


def keepersecurity() -> Guide:
    server = Keeper()
    uid = uid_of("database")
    host = {"type": "text", "label": "Host", "value": ["db.internal"]}
    password = {"type": "password", "value": ["correct horse"]}
    server.add(
        uid, {"title": "Database of the shop", "type": "login", "fields": [password], "custom": [host]}
    )
    server.attach(uid, "ca.pem", b"-----BEGIN CERTIFICATE-----")
    return Guide(
        server,
        lambda: {"ewogICJob3N0bmFtZSI6ICJrZWVwZXJzZWN1cml0eS5ldSIsIC4uLgp9": _reached(server, uid)},
        lambda: server.titled("Issued")[0]["custom"],
        [{"type": "secret", "label": "token", "value": ["t-1"]}],
        tls=True,
    )


def _reached(server: Keeper, uid: str) -> str:
    """The configuration, once the server has its address, which is that of its files, too."""
    for file in server.records[uid].files:
        file["url"] = f"{server.url}/files/0"
    return server.configuration().decode()


def onepasswordsdk() -> Guide:
    server = OnePassword()
    server.add("database", **{"username": "ada", "password": "correct horse", "Extra/token": "t-0"})
    server.add("cache", url="redis://cache.internal")
    return Guide(
        server,
        lambda: {"ops_eyJzaWduSW5BZGRyZXNzIjoi...": server.account_token},
        lambda: (server.fields("issued"), server.tags("issued")),
        ([{"token": "t-1"}], ["shop"]),
        tls=True,
    )


def passbolt() -> Guide:
    server = Passbolt()
    server.add("databa", "correct horse", username="ada")
    key = ACCOUNT.decode().strip().replace("\n", "\n    ")
    here = {"-----BEGIN PGP PRIVATE KEY BLOCK-----...": key, "pb-example": PASSPHRASE}
    return Guide(server, lambda: {"https://passbolt.example.com": server.url, **here}, tls=True)


def passworddepot() -> Guide:
    server = PasswordDepot()
    server.password = "pd-example"
    server.add("database", server.add("shop"), login="ada", **{"pass": "correct horse"})
    return Guide(server, lambda: {"depot.example.com": server.url.removeprefix("https://")}, tls=True)


GUIDES: Final[dict[str, Callable[[], Guide]]] = {
    "alibaba": alibaba,
    "barbican": barbican,
    "beyondtrust": beyondtrust,
    "beyondtrustworkloadcredentials": workload_credentials,
    "bitwardensecretsmanager": bitwarden,
    "chef": chef,
    "dvls": dvls,
    "fortanix": fortanix,
    "github": github,
    "keepersecurity": keepersecurity,
    "ngrok": ngrok,
    "onboardbase": onboardbase,
    "onepasswordsdk": onepasswordsdk,
    "oracle": oracle,
    "ovh": ovh,
    "passbolt": passbolt,
    "passworddepot": passworddepot,
    "previder": previder,
    "pulumi": pulumi,
    "secretserver": secretserver,
    "volcengine": volcengine,
    "yandexcertificatemanager": lambda: yandex("yandexcertificatemanager"),
    "yandexlockbox": lambda: yandex("yandexlockbox"),
}


@pytest.mark.parametrize("page", GUIDES)
async def test_the_guide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str) -> None:
    trust(monkeypatch, AUTHORITY)
    guide = GUIDES[page]()
    certified = AUTHORITY.server(tmp_path) if guide.tls else None
    if isinstance(guide.server, OnePassword):
        certified = trusted(monkeypatch)  # its SDK reads this once
    async with running(guide.server, certified):
        monkeypatch.setenv("ALIBABA_CLOUD_KMS_ENDPOINT", guide.server.url)
        monkeypatch.setenv("OCI_VAULTS_ENDPOINT", guide.server.url)
        monkeypatch.setenv("VOLCENGINE_ENDPOINT", guide.server.url)
        await follow(page, guide.here(), tmp_path)

    assert guide.pushed() == guide.wanted
