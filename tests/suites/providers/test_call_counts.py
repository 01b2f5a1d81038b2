"""How many calls two hundred keys of one store cost: as few as the manager's API allows."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from syncret.providers.contract import Reader
from syncret.providers.registry import Registry
from syncret.providers.testing import Entry
from syncret.providers.values import RemoteKey
from tests.suites.providers.managers import MANAGERS, managed

KEYS: Final = 200

CALLS: Final[Mapping[str, tuple[int, str]]] = {
    "akeyless": (math.ceil(KEYS / 50), "fifty names in a call"),
    "alibaba": (KEYS, "each by itself"),
    "barbican": (KEYS, "each by itself"),
    "beyondtrust accounts": (4 * KEYS, "each by a request"),
    "beyondtrust secrets": (KEYS, "each by itself"),
    "beyondtrustworkloadcredentials": (KEYS, "each by itself"),
    "bitwardensecretsmanager": (2 * math.ceil(KEYS / 100), "listed and read for each hundred"),
    "chef": (KEYS, "each by itself"),
    "conjur": (math.ceil(KEYS / 50), "fifty names in a URL"),
    "delinea": (KEYS, "each by itself"),
    "doppler": (math.ceil(KEYS / 50), "fifty names in a URL"),
    "dvls": (2 + 2 * KEYS, "two pages of vaults, and each name"),
    "fortanix": (2 * KEYS, "looked up and exported"),
    "gitlab": (math.ceil(KEYS / 100), "pages of a hundred"),
    "infisical": (1, "a folder is one answer"),
    "keepersecurity": (1, "five hundred UIDs in a call"),
    "onboardbase": (1, "one answer"),
    "onepassword": (1 + 4 * 2 + KEYS, "the vaults, their titles for each fifty, and each item"),
    "oracle": (KEYS, "each by itself"),
    "ovh": (KEYS, "each by itself"),
    "passbolt": (math.ceil(KEYS / 20), "twenty a call"),
    "passworddepot": (2 * math.ceil(KEYS / 50) + KEYS, "the lists for each fifty, and each entry"),
    "previder": (KEYS, "each by itself"),
    "pulumi": (2, "opened and read"),
    "scaleway": (KEYS, "each by its path"),
    "secretserver": (2 * KEYS, "looked up by name, and read"),
    "senhasegura": (1, "one answer has all"),
    "volcengine": (KEYS, "each by itself"),
    "yandexcertificatemanager": (KEYS, "each by itself"),
    "yandexlockbox": (KEYS, "each by itself"),
}
"""By manager, and why."""

WRITE_ONLY: Final = {"github", "ngrok"}

QUICK: Final = {"akeyless", "conjur", "doppler", "gitlab", "infisical", "senhasegura"}
"""Those of the fast tests; the others are of the conformance lane."""


def _row(name: str) -> object:
    marks = () if name in QUICK else (pytest.mark.slow, pytest.mark.conformance)
    return pytest.param(name, id=f"{name}: {CALLS[name][1]}", marks=marks)


@pytest.mark.parametrize("name", [_row(name) for name in CALLS])
async def test_two_hundred_keys(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with managed(name, tmp_path, monkeypatch) as store:
        names = [store.key(f"k-{number}") for number in range(KEYS)]
        await store.seed(*(Entry(each, store.whole("v")) for each in names))
        batch = Registry().provider(store.provider).batch_size
        async with store.open() as client:
            assert isinstance(client, Reader)
            store.server.calls.clear()
            for start in range(0, KEYS, batch):
                keys = [RemoteKey(each) for each in names[start : start + batch]]
                assert len(await client.fetch(keys)) == len(keys)

    assert len(store.server.calls) == CALLS[name][0]


def test_every_manager_has_a_row() -> None:
    assert {*CALLS, *WRITE_ONLY} == set(MANAGERS)
