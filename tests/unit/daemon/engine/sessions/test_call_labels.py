"""The labels of calls: what the operator's own metrics say, where it counts the call."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.observer import Item, Operation
from syncret.daemon.engine.sessions.call_labels import labels_of
from syncret.providers.api_names import ApiNames
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.registry import Registry
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes

ONE = (RemoteKey("a"),)
MANY = (RemoteKey("a"), RemoteKey("b"))
METADATA = (RemoteKey("a", metadata=True),)
BY_NAME, BY_TAGS = FindQuery(name="a"), FindQuery(tags=(("team", "a"),))
REGISTRY = Registry()
SERVICE: Document = {"region": "eu-west-1", "auth": {}}


def target(key: str) -> RemoteTarget:
    return RemoteTarget(key)


def item(key: str) -> PushItem:
    return PushItem(remote_key=key, property="", value=SecretBytes(b""))


def names_of(provider: str, service: str) -> ApiNames:
    """The names of a store's provider; AWS has other ones for each service."""
    from msgspec import convert

    found = REGISTRY.provider(provider)
    if not service:
        return found.api_names(None)
    return found.api_names(convert({**SERVICE, "service": service}, found.spec.model))


@pytest.mark.parametrize(
    ("provider", "operation", "asked", "expected"),
    [
        ("vault", "read", ONE, "HashiCorp/Vault ReadSecretData"),
        ("vault", "read", METADATA, "HashiCorp/Vault ReadSecretData"),
        ("vault", "find", BY_TAGS, "HashiCorp/Vault ListSecrets"),
        ("vault", "push", item("a"), "HashiCorp/Vault WriteSecretData"),
        ("vault", "delete", target("a"), "HashiCorp/Vault DeleteSecret"),
        ("vault", "exists", target("a"), "HashiCorp/Vault ReadSecretData"),
        ("vault", "probe", None, "HashiCorp/Vault LookupSelf"),
        ("aws SecretsManager", "read", ONE, "AWS/SecretsManager GetSecretValue"),
        ("aws SecretsManager", "read", MANY, "AWS/SecretsManager BatchGetSecretValue"),
        ("aws SecretsManager", "read", METADATA, "AWS/SecretsManager DescribeSecret"),
        ("aws SecretsManager", "find", BY_TAGS, "AWS/SecretsManager ListSecrets"),
        ("aws SecretsManager", "push", item("a"), "AWS/SecretsManager PutSecretValue"),
        ("aws SecretsManager", "delete", target("a"), "AWS/SecretsManager DeleteSecret"),
        ("aws SecretsManager", "probe", None, "AWS/SecretsManager probe"),
        ("aws ParameterStore", "read", ONE, "AWS/ParameterStore GetParameter"),
        ("aws ParameterStore", "find", BY_NAME, "AWS/ParameterStore GetParametersByPath"),
        ("aws ParameterStore", "find", BY_TAGS, "AWS/ParameterStore DescribeParameter"),
        ("aws ParameterStore", "push", item("a"), "AWS/ParameterStore PutParameter"),
        ("aws CertificateManager", "read", ONE, "AWS/CertificateManager ExportCertificate"),
        ("aws CertificateManager", "push", item("a"), "AWS/CertificateManager ImportCertificate"),
        ("azurekv", "read", ONE, "Azure/KeyVault GetSecret"),
        ("azurekv", "read", (RemoteKey("cert/a"),), "Azure/KeyVault GetCertificate"),
        ("azurekv", "find", BY_NAME, "Azure/KeyVault GetSecrets"),
        ("azurekv", "push", item("a"), "Azure/KeyVault SetSecret"),
        ("azurekv", "push", item("key/a"), "Azure/KeyVault ImportKey"),
        ("azurekv", "delete", target("cert/a"), "Azure/KeyVault DeleteCertificate"),
        ("azurekv", "delete", target("what/is/this"), "Azure/KeyVault delete"),
        ("gcpsm", "read", ONE, "GCP/SecretManager AccessSecretVersion"),
        ("gcpsm", "read", METADATA, "GCP/SecretManager GetSecret"),
        ("gcpsm", "find", BY_NAME, "GCP/SecretManager ListSecrets"),
        ("gcpsm", "push", item("a"), "GCP/SecretManager AddSecretVersion"),
        ("ibm", "read", (RemoteKey("group/kv/a"),), "IBM/SecretsManager GetSecretByNameType"),
        (
            "ibm",
            "read",
            (RemoteKey("kv/0a9ab4cf-2f0c-4e5e-9f2a-2f6b7c8d9e0f"),),
            "IBM/SecretsManager GetSecret",
        ),
        ("kubernetes", "read", ONE, "Kubernetes GetSecret"),
        ("kubernetes", "find", BY_NAME, "Kubernetes ListSecrets"),
        ("kubernetes", "push", item("a"), "Kubernetes UpdateSecret"),
        ("kubernetes", "probe", None, "Kubernetes CreateSelfSubjectRulesReview"),
        ("webhook", "read", ONE, "Webhook HTTPRequest"),
        ("webhook", "delete", target("a"), "Webhook HTTPRequest"),
        ("webhook", "exists", target("a"), "Webhook HTTPRequest"),
        ("keepersecurity", "exists", target("a"), "KeeperSecurity GetSecrets"),
        ("aws CertificateManager", "exists", target("a"), "AWS/CertificateManager GetResources"),
        pytest.param("fake", "read", MANY, "fake read", id="the operator counts no calls of fake stores"),
        pytest.param("openBao", "find", BY_TAGS, "openBao find", id="nor those of OpenBao"),
        pytest.param("crd", "read", ONE, "crd read", id="nor those of custom resources"),
    ],
)
def test_labels(provider: str, operation: Operation, asked: Item, expected: str) -> None:
    name, _, service = provider.partition(" ")
    assert " ".join(labels_of(names_of(name, service), name, operation, asked)) == expected


@pytest.mark.parametrize(
    ("provider", "reads", "expected"),
    [
        ("vault", 1, "ReadSecretData"),
        ("aws SecretsManager", 1, "GetSecretValue"),
        ("aws SecretsManager", 20, "BatchGetSecretValue"),
        ("aws ParameterStore", 10, "GetParameters"),
        ("azurekv", 1, "GetSecret"),
        ("gcpsm", 1, "AccessSecretVersion"),
        ("openBao", 1, "find"),
    ],
)
def test_what_a_search_reads_is_no_search(provider: str, reads: int, expected: str) -> None:
    name, _, service = provider.partition(" ")
    assert labels_of(names_of(name, service), name, "find", BY_TAGS, reads=reads)[1] == expected


def test_without_names_they_are_ours() -> None:
    assert labels_of(ApiNames(), "acme", "read", MANY) == ("acme", "read")
    assert labels_of(ApiNames(), "GithubAccessToken", "generate", None) == ("GithubAccessToken", "generate")
