"""The client of an Infisical store: the endpoints, and what it does with them.

https://infisical.com/docs/api-reference/endpoints/secrets/list
"""

import posixpath
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.infisical.places import Listed, Place, Secret, place_of
from syncret.providers.infisical.spec import SecretsScope
from syncret.providers.kit.batching import read_each
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.references import as_text
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "give the machine identity a role in the project that may read secrets there"
_WRITE: Final = "give the machine identity a role in the project that may create, change and delete secrets"
_ONE: Final = "/v3/secrets/raw/{name}"

LIST: Final = Endpoint("GET", "/v3/secrets/raw", "listing the secrets of {folder}", _READ)
READ: Final = Endpoint("GET", _ONE, "reading secret {name}", _READ)
CREATE: Final = Endpoint("POST", _ONE, "creating secret {name}", _WRITE)
UPDATE: Final = Endpoint("PATCH", _ONE, "changing secret {name}", _WRITE)
DELETE: Final = Endpoint("DELETE", _ONE, "deleting secret {name}", _WRITE)
PROJECT: Final = Endpoint("GET", "/v1/projects/slug/{slug}", "looking up project {slug}", _READ)

_MANY: Final = 20
"""From so many keys of one folder on, all of it is read: Infisical Cloud takes two calls a second."""


class _Answer(msgspec.Struct):
    secret: Secret


class _Project(msgspec.Struct):
    id: str


class InfisicalClient(Unversioned, ComputingClient, TextValues, TextWrites[Secret]):
    """Reads, finds, pushes, deletes and probes. As in the operator, versions are passed over."""

    def __init__(self, scope: SecretsScope, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._scope = scope
        self._folder = scope.secrets_path or "/"
        self._project = ""

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """Each secret by itself; many of one folder in one call."""
        folders: dict[str, list[RemoteKey]] = {}
        for key in keys:
            folders.setdefault(self._place(key.key).folder, []).append(key)
        listed = {
            folder: {each.secret_key: each for each in await self._list(folder, recursive=False)}
            for folder, some in folders.items()
            if len(some) >= _MANY
        }

        async def read(key: RemoteKey) -> SecretBytes | None:
            place = self._place(key.key)
            if place.folder in listed:
                found = listed[place.folder].get(place.name)
            else:
                found = await self._read(place, expand=self._scope.expand_secret_references)
            return None if found is None else found.value()

        return await read_each(keys, read)

    def _place(self, key: str) -> Place:
        return place_of(key, self._folder)

    async def _read(self, place: Place, *, expand: bool) -> Secret | None:
        params = self._asked(place.folder, expand=expand)
        answer = await self._api.look_up(READ, params={**params, "type": "shared"}, name=place.name)
        return None if answer is None else answer.decode(_Answer).secret

    async def _list(self, folder: str, *, recursive: bool) -> list[Secret]:
        params = self._asked(folder, expand=self._scope.expand_secret_references)
        params["recursive"] = _word(truth=recursive)
        return (await self._api.call(LIST, params=params, folder=folder)).decode(Listed).all()

    def _asked(self, folder: str, *, expand: bool) -> dict[str, str]:
        return {
            "workspaceSlug": self._scope.project_slug,
            "environment": self._scope.environment_slug,
            "secretPath": folder,
            "include_imports": "true",
            "expandSecretReferences": _word(truth=expand),
        }

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Secrets whose names match, and whose path begins so; of two with one name the last counts."""
        if query.tags:
            raise Malformed(
                "secrets in Infisical are not found by tags", hint="write find.name.regexp, or find.path"
            )
        matches = regexp.matcher(query.name or "", work)
        listed = await paced(partial(self._list, self._folder, recursive=self._scope.recursive))
        Looked("listing secrets").at(listed)
        found = Matches()
        for secret in listed:
            name = secret.secret_key
            path = posixpath.join(secret.secret_path or self._folder, name)
            if matches(name) and path.startswith(query.path or ""):
                found.add_value(name, secret.value())
        return found.values

    # -- push: as it stands, with its references to other secrets
    async def entry(self, key: str) -> Secret | None:
        return await self._read(self._place(key), expand=False)

    def text(self, entry: Secret) -> bytes:
        return entry.value().raw

    async def store(self, item: PushItem, text: bytes, entry: Secret | None) -> None:
        place = self._place(item.remote_key)
        body = await self._written(place)
        body["secretValue"] = as_text(text, "push it in base64")
        await self._api.call(CREATE if entry is None else UPDATE, body=body, name=place.name)

    async def remove(self, key: str) -> None:
        place = self._place(key)
        await self._api.look_up(DELETE, body=await self._written(place), name=place.name)

    async def _written(self, place: Place) -> dict[str, str]:
        """The parameters of a change: the API wants the project's ID there, which stays the same."""
        if not self._project:
            answer = await self._api.call(PROJECT, slug=self._scope.project_slug)
            self._project = answer.decode(_Project).id
        return {
            "workspaceId": self._project,
            "environment": self._scope.environment_slug,
            "secretPath": place.folder,
            "type": "shared",
        }

    # -- probe
    async def probe(self) -> Readiness:
        await self._list(self._folder, recursive=False)
        return "ready"


def _word(*, truth: bool) -> str:
    return "true" if truth else "false"
