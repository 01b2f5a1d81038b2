"""Google's own clients, used as their documentation shows, against another address.

They block: a script of calls runs in a thread, beside the loop that serves it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from tests.support.servers.google.server import Google

# Google's clients are typed in part only; checked as Any they read as in their documentation.
auth: Any = import_module("google.auth")
aws: Any = import_module("google.auth.aws")
compute_engine: Any = import_module("google.auth.compute_engine")
credentials_module: Any = import_module("google.auth.credentials")
exceptions: Any = import_module("google.api_core.exceptions")
identity_pool: Any = import_module("google.auth.identity_pool")
metadata: Any = import_module("google.auth.compute_engine._metadata")
requests: Any = import_module("google.auth.transport.requests")
secretmanager: Any = import_module("google.cloud.secretmanager")
service_account: Any = import_module("google.oauth2.service_account")
user_credentials: Any = import_module("google.oauth2.credentials")
GoogleAuthError: type[Exception] = import_module("google.auth.exceptions").GoogleAuthError

Sdk = Any
"""An object of Google's."""

PARENT = "projects/acme"
NUMBER = "projects/123456789012"
AUTOMATIC: dict[str, Any] = {"replication": {"automatic": {}}}


def client(cloud: Google, credentials: Sdk = None, place: str = "") -> Sdk:
    if credentials is None:
        key = cloud.identity.key_file(cloud.identity.account("sdk"))
        credentials = service_account.Credentials.from_service_account_info(key)
    return secretmanager.SecretManagerServiceClient(
        credentials=credentials, transport="rest", client_options={"api_endpoint": cloud.urls[place]}
    )


def fresh(credentials: Sdk) -> Sdk:
    """With a token."""
    credentials.refresh(requests.Request())
    return credentials


@contextmanager
def refused(status: str) -> Generator[None, None, None]:
    """The call fails with this status of Google's."""
    with pytest.raises(exceptions.GoogleAPICallError) as caught:
        yield
    assert caught.value.response.json()["error"]["status"] == status
