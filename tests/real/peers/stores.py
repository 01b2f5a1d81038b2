"""The stores that the operator and we are given, and what the operator's providers do otherwise.

The operator (0.20.4) calls most managers with the vendor's own client: a server that this client works with
is one that the vendor's API looks like.
"""

import json
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from syncret.config.meta import Document
from syncret.providers.testing import Ability
from tests.suites.providers.rest_harness import RestHarness
from tests.suites.providers.test_akeyless import AkeylessHarness
from tests.suites.providers.test_alibaba import AlibabaHarness
from tests.suites.providers.test_beyondtrust import AccountsHarness, SafeHarness
from tests.suites.providers.test_bitwardensecretsmanager import BitwardenHarness
from tests.suites.providers.test_chef import ChefHarness
from tests.suites.providers.test_cloudrusm import CloudRuHarness
from tests.suites.providers.test_conjur import ConjurHarness
from tests.suites.providers.test_delinea import DelineaHarness
from tests.suites.providers.test_doppler import DopplerHarness
from tests.suites.providers.test_fortanix import FortanixHarness
from tests.suites.providers.test_github import GithubHarness
from tests.suites.providers.test_gitlab import GitlabHarness
from tests.suites.providers.test_infisical import InfisicalHarness
from tests.suites.providers.test_keepersecurity import KeeperHarness, TitledHarness
from tests.suites.providers.test_ngrok import NgrokHarness
from tests.suites.providers.test_onboardbase import OnboardbaseHarness
from tests.suites.providers.test_onepassword import OnePasswordHarness
from tests.suites.providers.test_onepasswordsdk import OnePasswordSdkHarness
from tests.suites.providers.test_oracle import OracleHarness
from tests.suites.providers.test_passbolt import PassboltHarness
from tests.suites.providers.test_passworddepot import DepotHarness
from tests.suites.providers.test_previder import PreviderHarness
from tests.suites.providers.test_pulumi import Deprecated
from tests.suites.providers.test_scaleway import ScalewayHarness
from tests.suites.providers.test_secretserver import PLACE, SecretServerHarness
from tests.suites.providers.test_senhasegura import SenhaseguraHarness
from tests.suites.providers.test_volcengine import VolcengineHarness
from tests.suites.providers.test_yandex import (
    CertificateByIdHarness,
    CertificateHarness,
    LockboxByNameHarness,
    LockboxHarness,
    YandexHarness,
)
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.alibaba.server import Kms
from tests.support.servers.beyondtrust.server import PasswordSafe
from tests.support.servers.bitwarden.server import Bitwarden
from tests.support.servers.chef.server import Chef
from tests.support.servers.cloudru.server import CloudRu
from tests.support.servers.conjur.server import Conjur
from tests.support.servers.delinea.server import Delinea
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.fortanix.server import Fortanix
from tests.support.servers.github.server import Github
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.keeper.server import Keeper
from tests.support.servers.ngrok.server import Ngrok
from tests.support.servers.onboardbase.server import Onboardbase
from tests.support.servers.onepassword.server import Connect
from tests.support.servers.onepassword_service.server import OnePassword
from tests.support.servers.oracle.server import Oracle
from tests.support.servers.passbolt.server import Passbolt
from tests.support.servers.passworddepot.server import PasswordDepot
from tests.support.servers.previder.server import Previder
from tests.support.servers.pulumi.server import Pulumi
from tests.support.servers.scaleway.server import Scaleway
from tests.support.servers.secretserver.server import SecretServer
from tests.support.servers.senhasegura.server import Senhasegura
from tests.support.servers.volcengine.server import Volcengine
from tests.support.servers.yandex.server import Yandex
from tests.support.tls import Authority


class Peer(NamedTuple):
    """A provider of both, and what the operator's does otherwise."""

    server: Callable[[], Any]
    harness: Callable[[Any], RestHarness[Any]]
    differs: Mapping[str, str] = {}
    """By what is asked: why the operator's answer is another."""
    pushed: bytes = b"t"
    """What stands there after `t` was pushed."""
    tls: bool = False
    """Whether the operator's provider, or the client that it uses, demands https."""
    asks: str = ""
    """The property that must be asked for."""
    port: int = 0
    """The only port that the operator's provider calls."""
    grpc: bool = False
    """Whether it is called by gRPC."""
    metadata: Document | None = None
    """Of a push: what must be said for a new entry."""
    host: str = ""
    """The hosts that the operator's provider calls, with commas: both are led to the server by a proxy."""


ABSENT: Final = "the operator calls what is absent an error"
UNSEEN: Final = "the operator calls absent what may only be out of sight"

TEXTS: Final = "the operator takes objects whose members are all texts"


def _alibaba(server: Kms) -> RestHarness[Any]:
    return AlibabaHarness(server, time.time)


def _at_oracle(server: Oracle) -> RestHarness[Any]:
    store = OracleHarness(server)
    store.now = time.time
    return store


def _at_volcengine(server: Volcengine) -> RestHarness[Any]:
    store = VolcengineHarness(server)
    store.now = time.time
    return store


def _on_our_clock(server: Chef) -> RestHarness[Any]:
    """What is signed is good for a quarter of an hour, and the operator has no other clock."""
    return ChefHarness(server, time.time)


class _Trusting(BitwardenHarness):
    """The operator wants an authority, though the server's address is not https here."""

    def spec(self) -> Document:
        return {**super().spec(), "caBundle": b64encode(Authority().pem).decode()}


def _as_a_client(kind: type[SafeHarness]) -> Callable[[PasswordSafe], RestHarness[Any]]:
    """The vendor's client takes names and secrets of the lengths that Password Safe makes.

    With an API key alone, the operator's provider breaks off.
    """

    def harness(server: PasswordSafe) -> RestHarness[Any]:
        server.client, server.key = "6b2f3c1e-8a6b-4c5d-9e7f-2a3b4c5d6e7f", "k" * 64
        store = kind(server)
        store.as_client = True
        return store

    return harness


class _Cloud(Github):
    """GitHub's own cloud."""

    base = ""


class _InCloud(GithubHarness):
    def spec(self) -> Document:
        return {name: value for name, value in super().spec().items() if name != "url"}


class _Depot(DepotHarness):
    """The operator writes the port behind the host by itself."""

    def spec(self) -> Document:
        return {**super().spec(), "host": "127.0.0.1"}


class _Fields(TitledHarness):
    """The operator names a field with the record; the suite names the record alone."""

    def key(self, name: str) -> str:
        return f"{name}/token"

    async def stored(self, key: str) -> bytes | None:
        title, _, label = key.partition("/")
        found = await super().stored(title)
        return None if found is None else json.loads(found)[label].encode()


OCI: Final = (
    "secrets.vaults.eu-frankfurt-1.oci.oraclecloud.com",
    "vaults.eu-frankfurt-1.oci.oraclecloud.com",
    "kms.eu-frankfurt-1.oraclecloud.com",
)

KEEPER: Final = "keeper.example.com"

REFERENCES: Final = "the operator wants a reference in place of a property"

ONE_PROXY: Final = "our SDK takes the proxy that it found first in this process"


class _Read(OnePasswordSdkHarness):
    """The operator reads what a reference leads to."""

    lacks: Mapping[Ability, str] = {**OnePasswordSdkHarness.lacks, Ability.PUSH: ONE_PROXY}

    def key(self, name: str) -> str:
        return name if name == "db" else f"{name}/password"


def _at_yandex(kind: type[YandexHarness]) -> Callable[[Yandex], RestHarness[Any]]:
    def harness(server: Yandex) -> RestHarness[Any]:
        store = kind(server)
        store.now = time.time
        store.given.secrets["ca"] = {"ca.crt": AUTHORITY.pem}
        return store

    return harness


class _Pushed(OnePasswordSdkHarness):
    lacks: Mapping[Ability, str] = {**OnePasswordSdkHarness.lacks, Ability.READ: ONE_PROXY}


IGNORED: Final = "the operator ignores the property"

NO_MAP: Final = "the operator's provider has no maps"

NO_PROBE: Final = "the operator's provider does not look"

AUTHORITY: Final = Authority()

NO_FIND: Final = "the operator's provider finds nothing"

EMPTY: Final = "the operator takes an error for an empty value"

TEXT: Final = "the operator does not look into a text that is JSON"

YAML: Final = "the operator writes members that are objects as YAML"

UNFILTERED: Final = "the operator's provider finds all secrets"


def _yandex(kind: type[YandexHarness]) -> Peer:
    differs = {"absent": ABSENT, **({} if Ability.FIND_NAME in kind.lacks else {"find": NO_FIND})}
    return Peer(lambda: Yandex(time.time), _at_yandex(kind), differs, tls=True)


PEERS: Final = {
    "bitwardensecretsmanager": Peer(
        Bitwarden, _Trusting, {"property": TEXT, "map": YAML, "find": UNFILTERED}
    ),
    "chef": Peer(lambda: Chef(time.time), _on_our_clock, {"absent": ABSENT}),
    "alibaba": Peer(
        lambda: Kms(time.time),
        _alibaba,
        {"absent": ABSENT, "map": TEXTS, "find": NO_FIND},
        tls=True,
        host="kms.cn-hangzhou.aliyuncs.com",
    ),
    "akeyless": Peer(Akeyless, AkeylessHarness, {"absent": ABSENT, "map": TEXTS}, b'{"k":"t"}'),
    "beyondtrust accounts": Peer(
        PasswordSafe,
        _as_a_client(AccountsHarness),
        {"property": IGNORED, "map": NO_MAP},
        tls=True,
    ),
    "beyondtrust secrets": Peer(
        lambda: PasswordSafe(older=True),
        _as_a_client(SafeHarness),
        {"property": IGNORED, "map": NO_MAP},
        tls=True,
    ),
    "cloudrusm": Peer(CloudRu, CloudRuHarness, {"probe": NO_PROBE}, tls=True, grpc=True),
    "conjur": Peer(lambda: Conjur(time.time), ConjurHarness, {"map": TEXTS}),
    "delinea": Peer(Delinea, DelineaHarness, {"absent": ABSENT}),
    "doppler": Peer(Doppler, DopplerHarness, {"absent": ABSENT}),
    "fortanix": Peer(Fortanix, FortanixHarness, {"property": TEXTS, "map": TEXTS, "find": NO_FIND}),
    "github": Peer(_Cloud, _InCloud, tls=True, host="api.github.com"),
    "gitlab": Peer(Gitlab, GitlabHarness, {"absent": EMPTY, "map": TEXTS}),
    "infisical": Peer(Infisical, InfisicalHarness, {"absent": ABSENT}),
    "keepersecurity": Peer(Keeper, KeeperHarness, tls=True, host=KEEPER),
    "keepersecurity pushes": Peer(Keeper, _Fields, tls=True, host=KEEPER),
    "ngrok": Peer(Ngrok, NgrokHarness),
    "onepassword": Peer(lambda: Connect("staging", "shared"), OnePasswordHarness, {"absent": ABSENT}),
    "onepasswordSDK": Peer(
        OnePassword,
        _Read,
        {"absent": ABSENT, "property": REFERENCES, "find": NO_FIND},
        tls=True,
        host="shop.1password.com",
    ),
    "onepasswordSDK pushes": Peer(OnePassword, _Pushed, tls=True, host="shop.1password.com"),
    "onboardbase": Peer(Onboardbase, OnboardbaseHarness, {"absent": ABSENT}),
    "passbolt": Peer(Passbolt, PassboltHarness, {"probe": NO_PROBE}, tls=True),
    "passworddepot": Peer(PasswordDepot, _Depot, {}, asks="pass", tls=True, port=8714),
    "previder": Peer(Previder, PreviderHarness, {"absent": EMPTY, "find": NO_FIND}),
    "pulumi": Peer(Pulumi, Deprecated, {"absent": ABSENT, "property": TEXT, "map": TEXT, "find": NO_FIND}),
    "oracle": Peer(
        lambda: Oracle(time.time),
        _at_oracle,
        {"map": TEXTS},
        tls=True,
        host=",".join(OCI),
    ),
    "scaleway": Peer(Scaleway, ScalewayHarness),
    "secretserver": Peer(SecretServer, SecretServerHarness, metadata=PLACE),
    "senhasegura": Peer(Senhasegura, SenhaseguraHarness, {"absent": UNSEEN}, tls=True),
    "yandexcertificatemanager by id": _yandex(CertificateByIdHarness),
    "yandexcertificatemanager by name": _yandex(CertificateHarness),
    "yandexlockbox by id": _yandex(LockboxHarness),
    "yandexlockbox by name": _yandex(LockboxByNameHarness),
    "volcengine": Peer(
        lambda: Volcengine(time.time),
        _at_volcengine,
        {"absent": ABSENT, "find": NO_FIND},
        tls=True,
        host="open.volcengineapi.com",
    ),
}
