"""The service account of a virtual machine in Yandex Cloud, from its metadata server.

https://yandex.cloud/en/docs/compute/operations/vm-connect/auth-inside-vm
"""

from collections.abc import Callable
from typing import Final

from syncret.providers.contract import OwnIdentity
from syncret.providers.kit.ambient import metadata
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.rest.logins import oauth_token
from syncret.providers.values import SecretBytes

_URL: Final = "http://{}/computeMetadata/v1/instance/service-accounts/default/token"
_SERVER: Final = "169.254.169.254"


async def machine_token(own: OwnIdentity, now: Callable[[], float]) -> ExpiringValue[SecretBytes]:
    """An IAM token of the account that is linked to the machine. Raises SyncError."""
    answer = await metadata.ask(
        "GET",
        _URL.format(own.environment.get("YC_METADATA_ADDR") or _SERVER),
        doing="logging in as the machine's service account",
        hint="link a service account to the machine, or write auth.authorizedKeySecretRef",
        now=now,
        headers={"Metadata-Flavor": "Google"},
    )
    return oauth_token(answer, now)
