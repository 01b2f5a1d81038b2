"""Where a spec would have the daemon's own identity sent to: pure, and nothing if it names credentials."""

from typing import Any

import msgspec
import pytest

from syncret.config.meta import Document
from syncret.providers.registry import Registry

KEY = {"name": "login", "key": "key"}
KEYS = {"accessKeyIDSecretRef": KEY, "secretAccessKeySecretRef": KEY}
APP = {"name": "app"}
VAULT = "https://vault.example"
AZURE = {"vaultUrl": "https://x.vault.azure.net", "tenantId": "t"}
SHOP = {"projectSlug": "shop", "environmentSlug": "prod"}
AWS = {"service": "ParameterStore", "region": "cn-north-1"}


def vault(**auth: Any) -> Document:  # noqa: ANN401  # JSON
    return {"server": VAULT, "auth": auth}


def receivers_of(name: str, spec: Document) -> list[tuple[str, str, str]]:
    registry = Registry()
    owner = registry.provider(name) if name in registry.store_names() else registry.generator_type(name)
    typed = msgspec.convert(spec, owner.spec.model)
    found = list(owner.receivers(typed))
    assert all(receiver.sends for receiver in found)
    return [(receiver.provider, receiver.url, receiver.path) for receiver in found]


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        pytest.param("aws", AWS, [("aws", "https://ssm.cn-north-1.amazonaws.com.cn", "region")], id="aws"),
        pytest.param(
            "aws",
            {**AWS, "role": "arn"},
            [("aws", "https://sts.cn-north-1.amazonaws.com.cn", "region")],
            id="aws-role",
        ),
        pytest.param(
            "ECRAuthorizationToken",
            {"region": "eu-west-1"},
            [("aws", "https://api.ecr.eu-west-1.amazonaws.com", "region")],
            id="ecr",
        ),
        pytest.param(
            "ECRAuthorizationToken",
            {"region": "eu-west-1", "scope": "public"},
            [("aws", "https://api.ecr-public.us-east-1.amazonaws.com", "region")],
            id="ecr-public",
        ),
        pytest.param(
            "STSSessionToken",
            {"region": "eu-west-1"},
            [("aws", "https://sts.eu-west-1.amazonaws.com", "region")],
            id="sts",
        ),
        pytest.param(
            "azurekv",
            {**AZURE, "authType": "ManagedIdentity"},
            [("azurekv", "https://x.vault.azure.net", "vaultUrl")],
            id="azurekv-managed",
        ),
        pytest.param(
            "azurekv",
            {**AZURE, "authType": "WorkloadIdentity", "environmentType": "USGovernmentCloud"},
            [
                ("azurekv", "https://login.microsoftonline.us", "environmentType"),
                ("azurekv", "https://x.vault.azure.net", "vaultUrl"),
            ],
            id="azurekv-workload",
        ),
        pytest.param(
            "ACRAccessToken",
            {"registry": "x.azurecr.io", "auth": {"workloadIdentity": {}}},
            [
                ("azurekv", "https://login.microsoftonline.com", "environmentType"),
                ("azurekv", "https://x.azurecr.io", "registry"),
            ],
            id="acr-workload",
        ),
        pytest.param(
            "gcpsm",
            {"location": "europe-west3"},
            [("gcpsm", "https://secretmanager.europe-west3.rep.googleapis.com", "auth")],
            id="gcpsm",
        ),
        pytest.param(
            "GCRAccessToken",
            {"projectID": "p", "auth": {}},
            [("gcpsm", "https://oauth2.googleapis.com", "auth")],
            id="gcr",
        ),
        pytest.param(
            "ibm",
            {"serviceUrl": "https://x.example", "auth": {"containerAuth": {"profile": "p"}}},
            [
                ("ibm", "https://iam.cloud.ibm.com", "auth.containerAuth.iamEndpoint"),
                ("ibm", "https://x.example", "serviceUrl"),
            ],
            id="ibm",
        ),
        *(
            pytest.param(
                "infisical",
                {"auth": {method: {"identityId": KEY}}, "secretsScope": SHOP},
                [("infisical", "https://app.infisical.com/api", "hostAPI")],
                id=f"infisical-{method}",
            )
            for method in (
                "awsAuthCredentials",
                "azureAuthCredentials",
                "gcpIdTokenAuthCredentials",
                "kubernetesAuthCredentials",
            )
        ),
        pytest.param(
            "oracle",
            {"region": "eu-frankfurt-1", "vault": "v", "principalType": "InstancePrincipal"},
            [
                ("oracle", "https://secrets.vaults.eu-frankfurt-1.oci.oraclecloud.com", "region"),
                ("oracle", "https://vaults.eu-frankfurt-1.oci.oraclecloud.com", "region"),
            ],
            id="oracle-machine",
        ),
        pytest.param(
            "vault", vault(kubernetes={"role": "r"}), [("vault", VAULT, "server")], id="vault-kubernetes"
        ),
        pytest.param(
            "vault",
            vault(iam={"vaultRole": "r", "region": "eu-west-1"}),
            [
                ("vault", VAULT, "server"),
                ("aws", "https://sts.eu-west-1.amazonaws.com", "auth.iam.region"),
            ],
            id="vault-iam",
        ),
        pytest.param("vault", vault(gcp={"role": "r"}), [("vault", VAULT, "server")], id="vault-gcp"),
        pytest.param(
            "VaultDynamicSecret",
            {"path": "p", "provider": vault(kubernetes={"role": "r"})},
            [("vault", VAULT, "provider.server")],
            id="vault-dynamic",
        ),
    ],
)
def test_a_spec_without_credentials(name: str, spec: Document, expected: list[tuple[str, str, str]]) -> None:
    assert receivers_of(name, spec) == expected


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        pytest.param("aws", {**AWS, "auth": {"secretRef": KEYS}}, id="aws-keys"),
        pytest.param("aws", {**AWS, "auth": {"jwt": {"serviceAccountRef": APP}}}, id="aws-account"),
        pytest.param("azurekv", AZURE, id="azurekv-principal"),
        pytest.param(
            "azurekv",
            {**AZURE, "authType": "WorkloadIdentity", "serviceAccountRef": APP},
            id="azurekv-account",
        ),
        pytest.param(
            "ACRAccessToken",
            {"registry": "x", "auth": {"workloadIdentity": {"serviceAccountRef": APP}}},
            id="acr-account",
        ),
        pytest.param("gcpsm", {"auth": {"secretRef": {"secretAccessKeySecretRef": KEY}}}, id="gcpsm-key"),
        pytest.param("gcpsm", {"auth": {"workloadIdentity": {"serviceAccountRef": APP}}}, id="gcpsm-account"),
        pytest.param(
            "ibm",
            {"serviceUrl": "https://x", "auth": {"secretRef": {"secretApiKeySecretRef": KEY}}},
            id="ibm-key",
        ),
        pytest.param("oracle", {"region": "r", "vault": "v"}, id="oracle-user"),
        pytest.param("vault", {"server": VAULT}, id="vault-without-login"),
        pytest.param("vault", vault(tokenSecretRef=KEY, kubernetes={"role": "r"}), id="vault-token-wins"),
        pytest.param("vault", vault(kubernetes={"role": "r", "serviceAccountRef": APP}), id="vault-account"),
        pytest.param("vault", vault(kubernetes={"role": "r", "secretRef": KEY}), id="vault-secret"),
        pytest.param("vault", vault(iam={"vaultRole": "r", "secretRef": KEYS}), id="vault-iam-keys"),
        pytest.param(
            "vault", vault(iam={"vaultRole": "r", "jwt": {"serviceAccountRef": APP}}), id="vault-iam-account"
        ),
        pytest.param(
            "vault",
            vault(gcp={"role": "r", "workloadIdentity": {"serviceAccountRef": APP}}),
            id="vault-gcp-account",
        ),
        pytest.param(
            "kubernetes",
            {"remoteNamespace": "x", "server": {"url": VAULT}, "auth": {"serviceAccount": APP}},
            id="kubernetes",
        ),
        pytest.param("webhook", {"url": VAULT, "result": {}}, id="webhook"),
    ],
)
def test_a_spec_that_names_its_credentials(name: str, spec: Document) -> None:
    assert receivers_of(name, spec) == []
