"""Where documents would have the daemon's own identity sent to."""

import pytest

from syncret.config.meta import Document
from syncret.config.settings import OwnIdentity
from syncret.daemon.core.own_identity import verdicts_of
from syncret.providers.kit.ambient.rules import Rules
from syncret.providers.registry import Registry

STORES, GENERATORS = "external-secrets.io/v1", "generators.external-secrets.io/v1alpha1"
VAULT = {"server": "https://vault.example", "auth": {"kubernetes": {"role": "r"}}}
RULES = Rules(OwnIdentity(receivers={"vault": ("vault.example",)}), strict=True, environment={})


def document(api: str, kind: str, spec: object, namespace: str = "default") -> Document:
    metadata = {"name": "x", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("found", "path", "allowed"),
    [
        pytest.param(
            document(STORES, "SecretStore", {"provider": {"vault": VAULT}}),
            "spec.provider.vault.server",
            False,
            id="store",
        ),
        pytest.param(
            document(STORES, "ClusterSecretStore", {"provider": {"vault": VAULT}}, ""),
            "spec.provider.vault.server",
            True,
            id="cluster-store",
        ),
        pytest.param(
            document(GENERATORS, "VaultDynamicSecret", {"path": "p", "provider": VAULT}),
            "spec.provider.server",
            False,
            id="generator",
        ),
        pytest.param(
            document(
                GENERATORS,
                "ClusterGenerator",
                {
                    "kind": "VaultDynamicSecret",
                    "generator": {"vaultDynamicSecretSpec": {"path": "p", "provider": VAULT}},
                },
                "",
            ),
            "spec.generator.vaultDynamicSecretSpec.provider.server",
            True,
            id="cluster-generator",
        ),
    ],
)
def test_what_a_document_says(found: Document, path: str, *, allowed: bool) -> None:
    (verdict,) = verdicts_of(found, Registry(), RULES)
    assert (verdict.receiver.path, verdict.allowed) == (path, allowed)


@pytest.mark.parametrize(
    "found",
    [
        document(STORES, "SecretStore", {"provider": {"fake": {"data": []}}}),
        document(STORES, "SecretStore", {"provider": {"vault": {"auth": VAULT["auth"]}}}),
        document(STORES, "SecretStore", {"provider": {"another": {}}}),
        document(STORES, "SecretStore", None),
        document(STORES, "ExternalSecret", {"provider": {"vault": VAULT}}),
        document("example.com/v1", "SecretStore", {"provider": {"vault": VAULT}}),
        document(GENERATORS, "Password", {}),
        document(GENERATORS, "Another", {}),
        document(GENERATORS, "ClusterGenerator", {"kind": "UUID", "generator": {"uuidSpec": {}}}, ""),
        {"kind": 1},
    ],
)
def test_documents_that_send_nothing(found: Document) -> None:
    assert list(verdicts_of(found, Registry(), RULES)) == []
