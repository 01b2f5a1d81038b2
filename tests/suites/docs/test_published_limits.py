"""Limits that vendors publish are the default bucket of their stores, and one table has all of them."""

import re
from typing import Any, Final

import pytest

from syncret.config.meta import Document
from syncret.providers import builtin
from syncret.providers.contract import no_published_rate
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT
from tests.support.specs import spec_of

LOGIN: Final[Any] = {"name": "login", "key": "token"}

ALIBABA: Final[Document] = {
    "regionID": "cn-hangzhou",
    "auth": {"secretRef": {"accessKeyIDSecretRef": LOGIN, "accessKeySecretSecretRef": LOGIN}},
}
DOPPLER: Final[Document] = {"auth": {"secretRef": {"dopplerToken": LOGIN}}}
GITHUB: Final[Document] = {
    "appID": 1,
    "installationID": 2,
    "organization": "acme",
    "auth": {"privateKey": LOGIN},
}
GITLAB: Final[Document] = {"projectID": "7", "auth": {"SecretRef": {"accessToken": LOGIN}}}
INFISICAL: Final[Document] = {
    "auth": {"tokenAuthCredentials": {"accessToken": LOGIN}},
    "secretsScope": {"projectSlug": "shop", "environmentSlug": "prod"},
}

LIMITED: Final[list[tuple[str, Document, str]]] = [
    ("alibaba", ALIBABA, ""),
    ("aws", {"region": "eu-west-1", "service": "ParameterStore"}, " (ParameterStore)"),
    ("aws", {"region": "eu-west-1", "service": "SecretsManager"}, " (SecretsManager)"),
    ("azurekv", {"vaultUrl": "https://shop.vault.azure.net"}, ""),
    ("doppler", DOPPLER, ""),
    ("gcpsm", {"projectID": "acme"}, ""),
    ("github", GITHUB, ""),
    ("gitlab", GITLAB, ""),
    ("infisical", INFISICAL, ""),
    ("keepersecurity", {"authRef": LOGIN, "folderID": "f"}, ""),
    ("onepasswordSDK", {"vault": "v", "auth": {"serviceAccountSecretRef": LOGIN}}, ""),
]


def table() -> dict[str, float]:
    page = (ROOT / "docs" / "concepts" / "sessions.md").read_text()
    text = page.partition("## Limits that vendors publish")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)`( \(\w+\))? \| ([0-9.]+) \|", text, re.MULTILINE)
    return {name + part: float(rate) for name, part, rate in rows}


def rate(provider: str, spec: Document) -> float | None:
    found = Registry().provider(provider)
    return found.published_rate(spec_of(found, spec))


def test_the_table_has_all_limits() -> None:
    written = {f"{name}{part}": rate(name, spec) for name, spec, part in LIMITED}
    registry = Registry()
    limited = {
        name for name in builtin.STORES if registry.provider(name).published_rate is not no_published_rate
    }

    assert table() == pytest.approx(written, rel=0.01)
    assert {name for name, _, _ in LIMITED} == limited


@pytest.mark.parametrize(
    ("provider", "spec"),
    [
        pytest.param("azurekv", {"vaultUrl": "https://shop.vault.azure.net.example"}, id="another domain"),
        pytest.param("aws", {"region": "eu-west-1", "service": "CertificateManager"}, id="nothing published"),
        pytest.param("github", {**GITHUB, "url": "https://github.example.com/"}, id="an enterprise server"),
        pytest.param("gitlab", {**GITLAB, "url": "https://gitlab.example.com"}, id="a GitLab of one's own"),
    ],
)
def test_others_have_none(provider: str, spec: Document) -> None:
    assert rate(provider, spec) is None


@pytest.mark.parametrize(
    ("variable", "provider", "spec"),
    [
        pytest.param("DOPPLER_BASE_URL", "doppler", DOPPLER, id="doppler"),
        pytest.param("AWS_SSM_ENDPOINT", "aws", {"region": "r", "service": "ParameterStore"}, id="aws"),
    ],
)
def test_what_stands_in_place_of_the_vendor_has_none(
    monkeypatch: pytest.MonkeyPatch, variable: str, provider: str, spec: Document
) -> None:
    monkeypatch.setenv(variable, "https://proxy.example")

    assert rate(provider, spec) is None
