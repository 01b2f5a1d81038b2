"""Temporary credentials that are replaced before they expire."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from aiobotocore.credentials import AioCredentials
from botocore.credentials import ReadOnlyCredentials

from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue


class RefreshableCredentials(AioCredentials):
    """Credentials for the SDK, which are refreshed when a call needs them and they are about to expire."""

    def __init__(
        self, fetch: Callable[[], Awaitable[ExpiringValue[ReadOnlyCredentials]]], now: Callable[[], float]
    ) -> None:
        super().__init__("", "")  # the SDK uses the frozen ones only
        self._expiring = ExpiringLogin(fetch, now=now)

    async def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """The keys that sign the next call. Raises SyncError if none can be fetched."""
        return await self._expiring.get()

    def forget(self) -> None:
        """Fetch others for the next call: AWS says that these have expired."""
        current = self._expiring.current
        if current is not None:
            self._expiring.drop(current)

    def __repr__(self) -> str:
        return f"<RefreshableCredentials {self._expiring!r}>"


def expiring_keys(answer: Mapping[str, Any]) -> ExpiringValue[ReadOnlyCredentials]:
    """The credentials in a response of STS."""
    issued = answer["Credentials"]
    expires: datetime = issued["Expiration"]
    keys = ReadOnlyCredentials(issued["AccessKeyId"], issued["SecretAccessKey"], issued["SessionToken"])
    return ExpiringValue(keys, expires.timestamp())
