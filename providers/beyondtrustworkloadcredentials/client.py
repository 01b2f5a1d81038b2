"""The client of a BeyondTrust Workload Credentials store: the endpoints, and what it does with them.

https://docs.beyondtrust.com/bt-docs/docs/secrets-api
"""

from functools import partial
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads, map_concurrently, reading
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches, has_tags
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "give the token's account the right to read the secrets of the folder"

READ: Final = Endpoint("GET", "/static/{name}", "reading secret {name}", _GRANT)
LIST: Final = Endpoint("GET", "/static", "listing secrets", _GRANT)
SESSION: Final = Endpoint("GET", "/session", "asking for the session", _GRANT)


class _Metadata(msgspec.Struct):
    tags: dict[str, str] | None = None


class Found(msgspec.Struct):
    """A secret: fields of any JSON, and tags."""

    secret: dict[str, Json] | None
    metadata: _Metadata | None = None

    @property
    def held(self) -> dict[str, Json]:
        return self.secret or {}

    def __repr__(self) -> str:
        return f"<Found {len(self.held)} fields>"


class _Listed(msgspec.Struct):
    path: str


class _List(msgspec.Struct):
    data: list[_Listed] | None = None
    error: str | None = None


class WorkloadCredentialsClient(Unversioned, ApiClient, SingleReads[Found]):
    """Reads, finds and probes. As in the operator, the current version is read."""

    def __init__(self, api: Api, folder: str) -> None:
        super().__init__(api)
        self._folder = folder

    # -- read
    async def fetch_one(self, key: RemoteKey) -> Found | None:
        found = await self._read(self._folder, key.key)
        if found is not None and found.secret is None:
            raise Malformed(f"reading secret {key.key}: it has no value")
        return found

    def value(self, payload: Found, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """One field, or all as a JSON object."""
        if not ref.property:
            return SecretBytes(gojson.marshal(payload.held, work).encode())
        if ref.property not in payload.held:
            raise missing_property(f"property {ref.property} not found in secret {ref.key}")
        return SecretBytes(gojson.byte_value(payload.held[ref.property], work))

    def fields(self, payload: Found, ref: RemoteRef, work: Work) -> SecretMap | None:
        del ref
        return {name: SecretBytes(gojson.byte_value(each, work)) for name, each in payload.held.items()}

    async def _read(self, folder: str, name: str) -> Found | None:
        answer = await self._api.look_up(READ, params={"folder": folder} if folder else {}, name=name)
        return None if answer is None else answer.decode(Found)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap | None:
        """The fields of all secrets in and below a folder whose name matches, each by the secret's path."""
        folder = self._folder if query.path is None else query.path.removesuffix("/")
        params = {"recursive": "true", **({"path": folder} if folder else {})}
        answer = await paced(partial(self._api.look_up, LIST, params=params))
        if answer is None:
            return None
        matches, looked, found = regexp.matcher(query.name or "", work), Looked("listing secrets"), Matches()
        answered = answer.decode(_List)
        if answered.error:
            raise Malformed("listing secrets: HTTP 200, but with an error", hint="does the folder exist?")
        listed = answered.data or []
        looked.at(listed)
        paths = [each.path for each in listed if matches(each.path.rpartition("/")[2])]

        async def read(path: str) -> Found | None:
            below, _, name = path.rpartition("/")
            return await self._read(below or folder, name)

        read_all = map_concurrently(read, paths, reading(paced), doing="beyondtrust find")
        for path, secret in await read_all:
            if secret is not None and has_tags(secret.metadata.tags if secret.metadata else None, query.tags):
                for name, each in secret.held.items():
                    found.add_value(f"{path}/{name}", SecretBytes(gojson.byte_value(each, work)))
        return found.values

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(SESSION)
        return "ready"
