"""The client of a Volcengine store: the endpoints, and what it does with them.

https://www.volcengine.com/docs/6476
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.references import as_text
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import VersionedTexts
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


def _action(name: str, doing: str) -> Endpoint:
    grant = f"give the user or role a policy that allows kms:{name}"
    return Endpoint("POST", f"/?Action={name}&Version=2021-02-18", doing, grant)


READ: Final = _action("GetSecretValue", "reading secret {name}")
DESCRIBE: Final = _action("DescribeSecret", "asking for the state of secret {name}")
LIST: Final = _action("DescribeSecrets", "listing secrets")
CREATE: Final = _action("CreateSecret", "creating secret {name}")
UPDATE: Final = _action("SetSecretValue", "changing secret {name}")
DELETE: Final = _action("ScheduleSecretDeletion", "deleting secret {name}")

_PER_PAGE: Final = 100
_WINDOW: Final = 7
"""Days in which a deletion can be cancelled: the fewest, if a secret is not to be deleted at once."""


class NotFound(Malformed):
    """Something is not there: the secret, the version, or the key that the secret is encrypted with."""


class WrongState(Malformed):
    """The secret is disabled, or waits for its deletion."""


class _Value(msgspec.Struct):
    SecretValue: str | None = None


class _ValueAnswer(msgspec.Struct):
    Result: _Value


class _Listed(msgspec.Struct):
    SecretName: str
    ScheduleDeleteTime: str | None = None
    SecretState: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether it is not waiting for its deletion."""
        return not self.ScheduleDeleteTime and self.SecretState != "PendingDelete"


class _Described(msgspec.Struct):
    Secret: _Listed


class _DescribedAnswer(msgspec.Struct):
    Result: _Described


class _List(msgspec.Struct):
    Secrets: list[_Listed] | None = None


class _ListAnswer(msgspec.Struct):
    Result: _List


class VolcengineClient(ComputingClient, VersionedTexts):
    """Reads, finds, pushes, deletes and probes. A secret that waits for its deletion counts as deleted."""

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        body = {"SecretName": key.key, **({"VersionID": key.version} if key.version else {})}
        try:
            answer = await self._api.call(READ, body=body, name=key.key)
        except NotFound:
            if key.version:
                await self.read_current(key.key)  # fails unless only the version is missing
                return None
            secret = await self._described(key.key)
            if secret is not None and secret.is_there:
                raise
            return None
        except WrongState:
            if await self._is_leaving(key.key):
                return None
            raise
        value = answer.decode(_ValueAnswer).Result.SecretValue
        if value is None:
            raise Malformed(f"secret {key.key} has no value", hint="is it of the type Generic?")
        return SecretBytes(value.encode())

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of the JSON object: as in the operator they are JSON, and strings keep their quotes."""
        found = self.value(payload, ref, work)
        if found is None:
            return None
        raw = gojson.raw_fields(found.raw, work)
        return {name: SecretBytes(text.encode("utf-8", "surrogateescape")) for name, text in raw.items()}

    async def _described(self, name: str) -> _Listed | None:
        """The secret without its value; None if there is none. Raises SyncError."""
        try:
            answer = await self._api.call(DESCRIBE, body={"SecretName": name}, name=name)
        except NotFound:
            return None
        return answer.decode(_DescribedAnswer).Result.Secret

    async def _is_leaving(self, name: str) -> bool:
        """Whether a secret waits for its deletion."""
        secret = await self._described(name)
        return secret is not None and not secret.is_there

    async def _page(self, token: str) -> Page[_Listed]:
        number = int(token or "1")
        answer = await self._api.call(LIST, body={"CurrentPage": number, "PageSize": _PER_PAGE})
        secrets = answer.decode(_ListAnswer).Result.Secrets or []
        return Page(secrets, str(number + 1) if len(secrets) == _PER_PAGE else "")

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The secrets whose names match; a path is what they begin with."""
        if query.tags:
            raise Malformed("secrets in Volcengine are not found by tags", hint="write find.name.regexp")
        matches, found = regexp.matcher(query.name or "", work), Matches()
        async for each in pages(self._page, paced, doing=LIST.doing):
            name = each.SecretName
            if each.is_there and name.startswith(query.path or "") and matches(name):
                found.add_name(name)
        return await found.read_values(self.entry, paced, doing="volcengine find")

    # -- push
    async def store(self, item: PushItem, text: bytes, entry: SecretBytes | None) -> None:
        name = item.remote_key
        body = {"SecretName": name, "SecretValue": as_text(text, "push it in base64")}
        if entry is None:
            await self._create(name, {**body, "SecretType": "Generic"})
        else:
            await self._api.call(UPDATE, body=body, name=name)

    async def _create(self, name: str, body: Mapping[str, str]) -> None:
        try:
            await self._api.call(CREATE, body=body, name=name)
        except Malformed as error:  # the code for a name in use is not published
            try:
                leaving = await self._is_leaving(name)
            except (Denied, Malformed):  # which say nothing of the creation
                leaving = False
            if not leaving:
                raise
            raise Malformed(
                f"creating secret {name}: one of this name waits for its deletion",
                hint="cancel its deletion (CancelSecretDeletion), or wait until it is gone",
            ) from error

    async def remove(self, key: str) -> None:
        await self._api.call(DELETE, body={"SecretName": key, "PendingWindowInDays": _WINDOW}, name=key)

    # -- probe
