"""Every manager with a REST API: its server, and a harness for a store on it.

Suites that hold for all take their rows from here: a new manager is one line.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.suites.providers.rest_harness import RestHarness
from tests.suites.providers.test_akeyless import AkeylessHarness
from tests.suites.providers.test_alibaba import AlibabaHarness
from tests.suites.providers.test_barbican import BarbicanHarness
from tests.suites.providers.test_beyondtrust import AccountsHarness, SafeHarness
from tests.suites.providers.test_beyondtrustworkloadcredentials import WorkloadHarness
from tests.suites.providers.test_bitwardensecretsmanager import BitwardenHarness
from tests.suites.providers.test_chef import ChefHarness
from tests.suites.providers.test_conjur import ConjurHarness
from tests.suites.providers.test_delinea import DelineaHarness
from tests.suites.providers.test_doppler import DopplerHarness
from tests.suites.providers.test_dvls import DvlsHarness
from tests.suites.providers.test_fortanix import FortanixHarness
from tests.suites.providers.test_github import GithubHarness
from tests.suites.providers.test_gitlab import GitlabHarness
from tests.suites.providers.test_infisical import InfisicalHarness
from tests.suites.providers.test_keepersecurity import KeeperHarness
from tests.suites.providers.test_ngrok import NgrokHarness
from tests.suites.providers.test_onboardbase import OnboardbaseHarness
from tests.suites.providers.test_onepassword import OnePasswordHarness
from tests.suites.providers.test_oracle import OracleHarness
from tests.suites.providers.test_ovh import OvhHarness
from tests.suites.providers.test_passbolt import PassboltHarness
from tests.suites.providers.test_passworddepot import DepotHarness
from tests.suites.providers.test_previder import PreviderHarness
from tests.suites.providers.test_pulumi import PulumiHarness
from tests.suites.providers.test_scaleway import ScalewayHarness
from tests.suites.providers.test_secretserver import SecretServerHarness
from tests.suites.providers.test_senhasegura import SenhaseguraHarness
from tests.suites.providers.test_volcengine import VolcengineHarness
from tests.suites.providers.test_yandex import AUTHORITY, CertificateHarness, LockboxHarness
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.alibaba.server import Kms
from tests.support.servers.barbican.server import Barbican
from tests.support.servers.beyondtrust.server import PasswordSafe
from tests.support.servers.beyondtrust_workload.server import WorkloadCredentials
from tests.support.servers.bitwarden.server import Bitwarden
from tests.support.servers.chef.server import Chef
from tests.support.servers.conjur.server import Conjur
from tests.support.servers.delinea.server import Delinea
from tests.support.servers.doppler.server import Doppler
from tests.support.servers.dvls.server import Dvls
from tests.support.servers.fortanix.server import Fortanix
from tests.support.servers.github.server import Github
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.keeper.server import Keeper
from tests.support.servers.ngrok.server import Ngrok
from tests.support.servers.onboardbase.server import Onboardbase
from tests.support.servers.onepassword.server import Connect
from tests.support.servers.oracle.server import Oracle
from tests.support.servers.ovh.server import Ovh
from tests.support.servers.passbolt.server import Passbolt
from tests.support.servers.passworddepot.server import PasswordDepot
from tests.support.servers.previder.server import Previder
from tests.support.servers.pulumi.server import Pulumi
from tests.support.servers.rest import RestServer, running
from tests.support.servers.scaleway.server import Scaleway
from tests.support.servers.secretserver.server import SecretServer
from tests.support.servers.senhasegura.server import Senhasegura
from tests.support.servers.volcengine.server import Volcengine
from tests.support.servers.yandex.server import Yandex
from tests.support.tls import Authority, trust

ADDRESSES: Final = (
    "ALIBABA_CLOUD_KMS_ENDPOINT",
    "DOPPLER_BASE_URL",
    "OCI_VAULTS_ENDPOINT",
    "VOLCENGINE_ENDPOINT",
)
"""Variables that lead to the server of a provider whose stores name none."""

Now = Callable[[], float]


class Manager(NamedTuple):
    """How a manager is served, and used."""

    server: Callable[..., RestServer]
    harness: Callable[[Any], RestHarness[Any]]
    tls: bool = False
    """Whether its API is reached by https alone."""
    keeps_time: bool = False
    """Whether the server wants a clock: what it is sent is good for a while."""


MANAGERS: Final[Mapping[str, Manager]] = {
    "akeyless": Manager(Akeyless, AkeylessHarness),
    "alibaba": Manager(Kms, AlibabaHarness, keeps_time=True),
    "barbican": Manager(Barbican, BarbicanHarness, keeps_time=True),
    "beyondtrust accounts": Manager(PasswordSafe, AccountsHarness),
    "beyondtrust secrets": Manager(PasswordSafe, SafeHarness),
    "beyondtrustworkloadcredentials": Manager(WorkloadCredentials, WorkloadHarness, tls=True),
    "bitwardensecretsmanager": Manager(Bitwarden, BitwardenHarness, tls=True),
    "chef": Manager(Chef, ChefHarness, keeps_time=True),
    "conjur": Manager(Conjur, ConjurHarness, keeps_time=True),
    "delinea": Manager(Delinea, DelineaHarness),
    "doppler": Manager(Doppler, DopplerHarness),
    "dvls": Manager(Dvls, DvlsHarness),
    "fortanix": Manager(Fortanix, FortanixHarness),
    "github": Manager(Github, GithubHarness, keeps_time=True),
    "gitlab": Manager(Gitlab, GitlabHarness),
    "infisical": Manager(Infisical, InfisicalHarness),
    "keepersecurity": Manager(Keeper, KeeperHarness, tls=True),
    "ngrok": Manager(Ngrok, NgrokHarness),
    "onboardbase": Manager(Onboardbase, OnboardbaseHarness),
    "onepassword": Manager(lambda: Connect("staging", "shared"), OnePasswordHarness),
    "oracle": Manager(Oracle, OracleHarness, keeps_time=True),
    "ovh": Manager(Ovh, OvhHarness),
    "passbolt": Manager(Passbolt, PassboltHarness, tls=True),
    "passworddepot": Manager(PasswordDepot, DepotHarness, tls=True),
    "previder": Manager(Previder, PreviderHarness),
    "pulumi": Manager(Pulumi, PulumiHarness),
    "scaleway": Manager(Scaleway, ScalewayHarness),
    "secretserver": Manager(SecretServer, SecretServerHarness),
    "senhasegura": Manager(Senhasegura, SenhaseguraHarness, tls=True),
    "volcengine": Manager(Volcengine, VolcengineHarness, keeps_time=True),
    "yandexcertificatemanager": Manager(Yandex, CertificateHarness, tls=True, keeps_time=True),
    "yandexlockbox": Manager(Yandex, LockboxHarness, tls=True, keeps_time=True),
}
"""By provider, and by what of it is read if it reads several things."""


@asynccontextmanager
async def managed(
    name: str, folder: Path, patch: pytest.MonkeyPatch, *, now: Now = time.time, untrusted: bool = False
) -> AsyncGenerator[RestHarness[Any]]:
    """A harness on a running server. If it is untrusted, it has a certificate that nobody knows."""
    manager = MANAGERS[name]
    authority = Authority() if untrusted else AUTHORITY
    secure = manager.tls or untrusted
    if secure:
        trust(patch, AUTHORITY)
    server = manager.server(now) if manager.keeps_time else manager.server()
    async with running(server, authority.server(folder) if secure else None):
        for variable in ADDRESSES:
            patch.setenv(variable, server.url)
        harness = manager.harness(server)
        harness.now = now
        yield harness
