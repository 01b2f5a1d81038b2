"""Temporary credentials that are replaced before they expire."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from aiobotocore.credentials import AioCredentials
from botocore.credentials import ReadOnlyCredentials

from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue


class RefreshableCredentials(AioCredentials):
    """Credentials as the SDK takes them. Each call is signed with those that are good then."""

    def __init__(
        self, fetch: Callable[[], Awaitable[ExpiringValue[ReadOnlyCredentials]]], now: Callable[[], float]
    ) -> None:
        super().__init__("", "")  # the SDK asks for frozen ones alone
        self._expiring = ExpiringLogin(fetch, now=now)

    async def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """What to sign the next call with. Raises SyncError where none can be drawn."""
        return await self._expiring.get()

    def forget(self) -> None:
        """AWS says that they have ended already: draw others for the next call."""
        current = self._expiring.current
        if current is not None:
            self._expiring.drop(current)

    def __repr__(self) -> str:
        return f"<Renewed {self._expiring!r}>"


def expiring_keys(answer: Mapping[str, Any]) -> ExpiringValue[ReadOnlyCredentials]:
    """The credentials in an answer of STS."""
    issued = answer["Credentials"]
    expires: datetime = issued["Expiration"]
    keys = ReadOnlyCredentials(issued["AccessKeyId"], issued["SecretAccessKey"], issued["SessionToken"])
    return ExpiringValue(keys, expires.timestamp())
