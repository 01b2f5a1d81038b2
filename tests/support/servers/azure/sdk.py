"""Azure's own clients, used as their documentation shows, against another address.

They block: a script of calls runs in a thread, beside the loop that serves it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.server import Azure

# Checked as Any they read as in their documentation.
certificates: Any = import_module("azure.keyvault.certificates")
exceptions: Any = import_module("azure.core.exceptions")
containerregistry: Any = import_module("azure.containerregistry")
identity: Any = import_module("azure.identity")
keys: Any = import_module("azure.keyvault.keys")
secrets: Any = import_module("azure.keyvault.secrets")

Sdk = Any
"""An object of Azure's."""

QUICK: dict[str, Any] = {"_polling_interval": 0.01}
"""How often a client looks whether something is deleted by now: seconds between two looks."""


def credential(cloud: Azure, name: str = "sdk", tenant: str = TENANT, **options: Any) -> Sdk:  # noqa: ANN401  # Azure's own
    """Of an application that may do everything, by its secret."""
    client = options.pop("client_id", None) or cloud.member(name, secret="s3cret-4f1c").client_id
    secret = options.pop("client_secret", "s3cret-4f1c")
    return identity.ClientSecretCredential(tenant, client, secret, **reached(cloud), **options)


def reached(cloud: Azure) -> dict[str, Any]:
    """What every client must be told to find the server, and to trust it."""
    bundle = cloud.bundle
    return {
        "authority": cloud.host,
        "disable_instance_discovery": True,
        "connection_verify": bundle,
        "retry_total": 0,
    }


def vault(cloud: Azure, module: Sdk, credentials: Sdk = None) -> Sdk:
    """The client of secrets, keys or certificates."""
    client = {secrets: "SecretClient", keys: "KeyClient", certificates: "CertificateClient"}[module]
    return getattr(module, client)(
        cloud.secure_url,
        credentials or credential(cloud),
        connection_verify=cloud.bundle,
        verify_challenge_resource=False,
        retry_total=0,
    )


@contextmanager
def refused(status: int, code: str = "") -> Generator[None, None, None]:
    """The call fails with this status, and this code of Key Vault's."""
    with pytest.raises(exceptions.HttpResponseError) as caught:
        yield
    assert caught.value.status_code == status
    assert not code or caught.value.error.code == code
