"""How many calls two hundred keys of one store cost: as few as the manager's API allows."""

import math
from collections.abc import Callable
from typing import Final

import pytest

from syncret.providers.contract import Reader, RemoteKey
from syncret.providers.registry import Registry
from syncret.providers.testing import Entry
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
from tests.suites.providers.test_gitlab import GitlabHarness
from tests.suites.providers.test_infisical import InfisicalHarness
from tests.suites.providers.test_onboardbase import OnboardbaseHarness
from tests.suites.providers.test_onepassword import OnePasswordHarness
from tests.suites.providers.test_oracle import OracleHarness
from tests.suites.providers.test_ovh import OvhHarness
from tests.suites.providers.test_passbolt import PassboltHarness
from tests.suites.providers.test_previder import PreviderHarness
from tests.suites.providers.test_pulumi import PulumiHarness
from tests.suites.providers.test_scaleway import ScalewayHarness
from tests.suites.providers.test_secretserver import SecretServerHarness
from tests.suites.providers.test_senhasegura import SenhaseguraHarness
from tests.suites.providers.test_volcengine import VolcengineHarness
from tests.support.opened import NOW
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
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.onboardbase.server import Onboardbase
from tests.support.servers.onepassword.server import Connect
from tests.support.servers.oracle.server import Oracle
from tests.support.servers.ovh.server import Ovh
from tests.support.servers.passbolt.server import Passbolt
from tests.support.servers.previder.server import Previder
from tests.support.servers.pulumi.server import Pulumi
from tests.support.servers.rest import RestServer, running
from tests.support.servers.scaleway.server import Scaleway
from tests.support.servers.secretserver.server import SecretServer
from tests.support.servers.senhasegura.server import Senhasegura
from tests.support.servers.volcengine.server import Volcengine

KEYS: Final = 200

CONFORMANCE: Final = (pytest.mark.slow, pytest.mark.conformance)


@pytest.mark.parametrize(
    ("server", "harness", "calls"),
    [
        pytest.param(Doppler, DopplerHarness, math.ceil(KEYS / 50), id="doppler: fifty names in a URL"),
        pytest.param(lambda: Conjur(lambda: NOW), ConjurHarness, math.ceil(KEYS / 50), id="conjur: batches"),
        pytest.param(Gitlab, GitlabHarness, math.ceil(KEYS / 100), id="gitlab: pages of a hundred"),
        pytest.param(Akeyless, AkeylessHarness, math.ceil(KEYS / 50), id="akeyless: fifty names in a call"),
        pytest.param(Infisical, InfisicalHarness, 1, id="infisical: a folder is one answer"),
        pytest.param(Delinea, DelineaHarness, KEYS, id="delinea: each by itself"),
        pytest.param(Scaleway, ScalewayHarness, KEYS, id="scaleway: each by itself"),
        pytest.param(Senhasegura, SenhaseguraHarness, 1, id="senhasegura: one answer has all"),
        pytest.param(
            lambda: Connect("staging", "shared"),
            OnePasswordHarness,
            1 + 4 * 2 + KEYS,
            id="onepassword: the vaults, their titles for each fifty, and each item",
        ),
        pytest.param(lambda: Kms(lambda: NOW), AlibabaHarness, KEYS, id="alibaba", marks=CONFORMANCE),
        pytest.param(lambda: Barbican(lambda: NOW), BarbicanHarness, KEYS, id="barbican", marks=CONFORMANCE),
        pytest.param(
            Bitwarden,
            BitwardenHarness,
            2 * 2,
            id="bitwardensecretsmanager: listed and read for each hundred",
            marks=CONFORMANCE,
        ),
        pytest.param(PasswordSafe, SafeHarness, KEYS, id="beyondtrust: secrets", marks=CONFORMANCE),
        pytest.param(
            PasswordSafe, AccountsHarness, 4 * KEYS, id="beyondtrust: accounts by request", marks=CONFORMANCE
        ),
        pytest.param(lambda: Chef(lambda: NOW), ChefHarness, KEYS, id="chef", marks=CONFORMANCE),
        pytest.param(
            Dvls, DvlsHarness, 2 + 2 * KEYS, id="dvls: two pages of vaults, and each name", marks=CONFORMANCE
        ),
        pytest.param(
            Fortanix, FortanixHarness, 2 * KEYS, id="fortanix: looked up and exported", marks=CONFORMANCE
        ),
        pytest.param(Onboardbase, OnboardbaseHarness, 1, id="onboardbase: one answer", marks=CONFORMANCE),
        pytest.param(lambda: Oracle(lambda: NOW), OracleHarness, KEYS, id="oracle", marks=CONFORMANCE),
        pytest.param(Ovh, OvhHarness, KEYS, id="ovh", marks=CONFORMANCE),
        pytest.param(
            Passbolt, PassboltHarness, math.ceil(KEYS / 20), id="passbolt: twenty a call", marks=CONFORMANCE
        ),
        pytest.param(Previder, PreviderHarness, KEYS, id="previder", marks=CONFORMANCE),
        pytest.param(Pulumi, PulumiHarness, 2, id="pulumi: opened and read", marks=CONFORMANCE),
        pytest.param(
            SecretServer,
            SecretServerHarness,
            2 * KEYS,
            id="secretserver: by name",
            marks=CONFORMANCE,
        ),
        pytest.param(
            lambda: Volcengine(lambda: NOW), VolcengineHarness, KEYS, id="volcengine", marks=CONFORMANCE
        ),
        pytest.param(
            WorkloadCredentials,
            WorkloadHarness,
            KEYS,
            id="beyondtrustworkloadcredentials",
            marks=CONFORMANCE,
        ),
    ],
)
async def test_two_hundred_keys(
    monkeypatch: pytest.MonkeyPatch,
    server: Callable[[], RestServer],
    harness: Callable[[RestServer], RestHarness[RestServer]],
    calls: int,
) -> None:
    async with running(server()) as manager:
        monkeypatch.setenv("ALIBABA_CLOUD_KMS_ENDPOINT", manager.url)
        monkeypatch.setenv("DOPPLER_BASE_URL", manager.url)
        monkeypatch.setenv("OCI_VAULTS_ENDPOINT", manager.url)
        monkeypatch.setenv("VOLCENGINE_ENDPOINT", manager.url)
        store = harness(manager)
        names = [store.key(f"k-{number}") for number in range(KEYS)]
        await store.seed(*(Entry(name, store.whole("v")) for name in names))
        batch = Registry().provider(store.provider).batch_size
        async with store.open() as client:
            assert isinstance(client, Reader)
            manager.calls.clear()
            for start in range(0, KEYS, batch):
                keys = [RemoteKey(name) for name in names[start : start + batch]]
                assert len(await client.fetch(keys)) == len(keys)

    assert len(manager.calls) == calls
