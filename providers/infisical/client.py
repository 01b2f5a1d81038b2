"""The client of an Infisical store: the endpoints, and what it does with them.

https://infisical.com/docs/api-reference/endpoints/secrets/list
"""

import posixpath
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.infisical.places import Listed, Place, Secret, place_of
from syncret.providers.infisical.spec import SecretsScope
from syncret.providers.kit.batching import read_each
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.http import Unauthenticated
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
OLDER_PROJECT: Final = PROJECT._replace(path="/v2/workspace/{slug}")
"""Where servers from before September 2025 have it."""

_MANY: Final = 20
"""From so many keys of one folder on, all of it is read: Infisical Cloud takes two calls a second."""

_TRIMMED: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""White space of JavaScript, which the server removes from both ends of a value, but for one last newline."""


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
        """Each secret by itself; many of one folder in one call, but for those that it does not show."""
        folders: dict[str, list[RemoteKey]] = {}
        for key in keys:
            folders.setdefault(self._place(key.key).folder, []).append(key)
        listed = {
            folder: await self._listed(folder) for folder, some in folders.items() if len(some) >= _MANY
        }

        async def read(key: RemoteKey) -> SecretBytes | None:
            place = self._place(key.key)
            found = listed.get(place.folder, {}).get(place.name) or await self._read(place)
            return None if found is None else found.value()

        return await read_each(keys, read)

    async def _listed(self, folder: str) -> Mapping[str, Secret]:
        """The secrets of a folder by name, without what the identity may not describe.

        Empty if the list is refused, as it is if the value of a single secret may not be read.
        """
        try:
            return {each.secret_key: each for each in await self._list(folder, recursive=False)}
        except Unauthenticated:
            raise
        except Denied:
            return {}

    def _place(self, key: str) -> Place:
        return place_of(key, self._folder)

    async def _read(self, place: Place, *, as_written: bool = False) -> Secret | None:
        """A secret; as it is written, with its references, only if the folder itself has it."""
        params = self._asked(place.folder)
        if as_written:
            params |= {"include_imports": "false", "expandSecretReferences": "false"}
        answer = await self._api.look_up(READ, params={**params, "type": "shared"}, name=place.name)
        return None if answer is None else answer.decode(_Answer).secret

    async def _list(self, folder: str, *, recursive: bool) -> list[Secret]:
        params = self._asked(folder)
        params["recursive"] = _word(truth=recursive)
        return (await self._api.call(LIST, params=params, folder=folder)).decode(Listed).all()

    def _asked(self, folder: str) -> dict[str, str]:
        return {
            "workspaceSlug": self._scope.project_slug,
            "environment": self._scope.environment_slug,
            "secretPath": folder,
            "include_imports": "true",
            "expandSecretReferences": _word(truth=self._scope.expand_secret_references),
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

    # -- push
    async def entry(self, key: str) -> Secret | None:
        """None if only an imported folder has the name: a change of the import's secret is refused here."""
        return await self._read(self._place(key), as_written=True)

    def text(self, entry: Secret) -> bytes:
        return entry.value().raw

    async def store(self, item: PushItem, text: bytes, entry: Secret | None) -> None:
        remedy = "push it in base64"
        value = as_text(text, remedy)
        if value != value.strip(_TRIMMED) + ("\n" if value.endswith("\n") else ""):
            raise Malformed("the value begins or ends with white space, which Infisical removes", hint=remedy)
        place = self._place(item.remote_key)
        with self._changing():
            body = {**await self._written(place), "secretValue": value}
            await self._api.call(CREATE if entry is None else UPDATE, body=body, name=place.name)

    async def remove(self, key: str) -> None:
        place = self._place(key)
        with self._changing():
            await self._api.look_up(DELETE, body=await self._written(place), name=place.name)

    @contextmanager
    def _changing(self) -> Generator[None, None, None]:
        """If the server misses something, the project may have been made anew: its ID is forgotten."""
        try:
            yield
        except Malformed:
            self._project = ""
            raise

    async def _project_id(self) -> str:
        slug = self._scope.project_slug
        try:
            answer = await self._api.call(PROJECT, slug=slug)
        except Malformed:  # an older server, perhaps, which does not know this path
            answer = await self._api.call(OLDER_PROJECT, slug=slug)
        return answer.decode(_Project).id

    async def _written(self, place: Place) -> dict[str, str]:
        """The parameters of a change: the API wants the project's ID there, which stays the same."""
        self._project = self._project or await self._project_id()
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
