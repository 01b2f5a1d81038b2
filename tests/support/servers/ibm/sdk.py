"""IBM's own clients, used as their documentation shows, against another address.

They block: a script of calls runs in a thread, beside the loop that serves it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from tests.support.servers.ibm.server import Ibm

# IBM's clients are typed in part only; checked as Any they read as in their documentation.
authenticators: Any = import_module("ibm_cloud_sdk_core.authenticators")
sm: Any = import_module("ibm_secrets_manager_sdk.secrets_manager_v2")
ApiException: Any = import_module("ibm_cloud_sdk_core").ApiException

Sdk = Any
"""An object of IBM's."""


def client(cloud: Ibm, authenticator: Sdk = None) -> Sdk:
    if authenticator is None:
        authenticator = authenticators.IAMAuthenticator(cloud.service("sdk"), url=cloud.url)
    service = sm.SecretsManagerV2(authenticator=authenticator)
    service.set_service_url(cloud.url)
    return service


def created(service: Sdk, prototype: Sdk) -> dict[str, Any]:
    """A new secret, as it is answered with."""
    response = service.create_secret(secret_prototype=prototype)
    assert response.get_status_code() == 201
    made: dict[str, Any] = response.get_result()
    return made


@contextmanager
def refused(status: int, code: str = "") -> Generator[None, None, None]:
    """The call fails with this status, and this code of Secrets Manager's."""
    with pytest.raises(ApiException) as caught:
        yield
    assert caught.value.status_code == status
    if code:
        assert caught.value.http_response.json()["errors"][0]["code"] == code
