"""The client of managed accounts: a password is requested, read, and checked in.

https://docs.beyondtrust.com/bips/docs/password-safe-apis
"""

from contextlib import suppress
from typing import Final

import msgspec

from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues
from syncret.providers.values import RemoteKey, SecretBytes

_GRANT: Final = "give the user's group the role Requestor, with an access policy that approves automatically"

FIND: Final = Endpoint("GET", "/ManagedAccounts", "looking for account {name}", _GRANT)
REQUEST: Final = Endpoint("POST", "/Requests", "requesting the password of {name}", _GRANT)
READ: Final = Endpoint("GET", "/Credentials/{id}", "reading the password of {name}", _GRANT)
CHECK_IN: Final = Endpoint("PUT", "/Requests/{id}/checkin", "checking in {name}", _GRANT)

_MINUTES: Final = 5


class _Account(msgspec.Struct, rename="pascal"):
    system_id: int
    account_id: int


class AccountsClient(Unversioned, ApiClient, TextValues, SingleReads[SecretBytes]):
    """Reads and probes."""

    def __init__(self, api: Api, separator: str) -> None:
        super().__init__(api)
        self._separator = separator

    async def fetch_one(self, key: RemoteKey) -> SecretBytes:
        """The password, by a request that is always checked in again."""
        name = key.key
        account = await self._account(name)
        wanted = {
            "SystemID": account.system_id,
            "AccountID": account.account_id,
            "DurationMinutes": _MINUTES,
            "Reason": "syncret",
            "ConflictOption": "reuse",
        }
        given = str((await self._api.call(REQUEST, body=wanted, name=name)).decode(int))
        try:
            password = (await self._api.call(READ, id=given, name=name)).decode(str)
        except SyncError:
            with suppress(SyncError):  # the first error says more; the request ends by itself
                await self._api.call(CHECK_IN, body={}, id=given, name=name)
            raise
        await self._api.call(CHECK_IN, body={}, id=given, name=name)
        return SecretBytes(password.encode())

    async def _account(self, name: str) -> _Account:
        parts = [part.strip() for part in name.split(self._separator)]
        if len(parts) != 2 or not all(parts):  # noqa: PLR2004  # system and account
            raise Malformed(
                f"invalid retrieval path {name!r}",
                hint=f"write <system>{self._separator}<account>; secrets need retrievalType: SECRET",
            )
        params = {"systemName": parts[0], "accountName": parts[1]}
        answer = await self._api.look_up(FIND, params=params, name=name)
        if answer is None:
            raise Malformed(
                f"there is no managed account {name}, or the user may not see it",
                hint="check the key, and that the account is enabled for API access",
            )
        return answer.decode(_Account)
