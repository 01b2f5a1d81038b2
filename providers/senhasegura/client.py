"""The client of a senhasegura store: the endpoint, and what it does with the answer.

https://docs.senhasegura.io/docs/dsm-api-integration
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import Readiness
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

APPLICATION: Final = Endpoint(
    "GET", "/iso/dapp/application", "reading the application", "let the authorization read secrets"
)


class _Outcome(msgspec.Struct):
    error: bool = False


class _Secret(msgspec.Struct):
    identity: str
    data: list[dict[str, str]] = []


class _Application(msgspec.Struct):
    secrets: list[_Secret]


class _Answer(msgspec.Struct):
    response: _Outcome
    application: _Application | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one secret: each has some keys with their values."""

    all: Sequence[Mapping[str, str]] = field(repr=False)


class SenhaseguraClient(Unversioned, ApiClient):
    """Reads and probes.

    One answer has all that the authorization may read, and nothing else. So reading a secret that is not in
    it is an error, and no `deletionPolicy` applies.
    """

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Entries | SyncError]:
        held = {secret.identity: Entries(secret.data) for secret in reversed(await self._secrets())}
        return {key: held.get(key.key) or _missing(key.key) for key in keys}

    def value(self, payload: Entries, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """All entries as JSON, or the first value that has the property as its key; None if none has."""
        if not ref.property:
            entries: list[Json] = [dict(entry) for entry in payload.all]
            return SecretBytes(gojson.marshal(entries, work).encode())
        values = (entry[ref.property] for entry in payload.all if ref.property in entry)
        found = next(values, None)
        return None if found is None else SecretBytes(found.encode())

    def fields(self, payload: Entries, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The keys of all entries; of two equal ones the last counts."""
        del ref, work
        return {key: SecretBytes(text.encode()) for entry in payload.all for key, text in entry.items()}

    async def probe(self) -> Readiness:
        await self._secrets()
        return "ready"

    async def _secrets(self) -> list[_Secret]:
        answer = await self._api.call(APPLICATION)
        found = answer.decode(_Answer)
        if found.response.error or found.application is None:
            raise Denied(
                f"{answer.doing}: senhasegura answers with an error of its own",
                hint="is the application active, and is the authorization one of DSM?",
            )
        return found.application.secrets


def _missing(key: str) -> Malformed:
    return Malformed(
        f"there is no secret {key}, or the authorization may not read it",
        hint="check the key, and that the authorization has the secret",
    )
