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
        self, draw: Callable[[], Awaitable[ExpiringValue[ReadOnlyCredentials]]], now: Callable[[], float]
    ) -> None:
        super().__init__("", "")  # the SDK asks for frozen ones alone
        self._expiring = ExpiringLogin(draw, now=now)

    async def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """What to sign the next call with. Raises SyncError where none can be drawn."""
        return await self._expiring.get()

    def forget(self) -> None:
        """AWS says that they have ended already: draw others for the next call."""
        held = self._expiring.current
        if held is not None:
            self._expiring.drop(held)

    def __repr__(self) -> str:
        return f"<Renewed {self._expiring!r}>"


def expiring_keys(answer: Mapping[str, Any]) -> ExpiringValue[ReadOnlyCredentials]:
    """The credentials in an answer of STS."""
    given = answer["Credentials"]
    expires: datetime = given["Expiration"]
    keys = ReadOnlyCredentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    return ExpiringValue(keys, expires.timestamp())
