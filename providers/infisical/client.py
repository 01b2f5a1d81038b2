"""The client of an Infisical store: the endpoints, and what it does with them.

https://infisical.com/docs/api-reference/endpoints/secrets/list
"""

import posixpath
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Final

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.infisical.places import Begun, Listed, Place, Secret, place_of
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


class _Folder(msgspec.Struct):
    """What a batch knows of a folder."""

    own: Mapping[str, Secret] = {}
    imports: bool | None = None
    """Whether it imports others; None: not known yet."""


class InfisicalClient(Unversioned, ComputingClient, TextValues, TextWrites[Secret]):
    """Reads, finds, pushes, deletes and probes. As in the operator, versions are passed over."""

    def __init__(self, scope: SecretsScope, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._scope = scope
        self._folder = scope.secrets_path or "/"
        self._project = ""
        self._begun = Begun()

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """Each secret by itself; many of one folder in one call, but for those that are not in its list."""
        counted = Counter(self._place(key.key).folder for key in keys)
        folders = {name: await self._folder_of(name, asked >= _MANY) for name, asked in counted.items()}
        single: dict[Place, Secret] = {}

        async def read(key: RemoteKey) -> SecretBytes | None:
            place = self._place(key.key)
            folder = folders[place.folder]
            if isinstance(folder, Malformed):
                raise copy(folder)
            found = folder.own.get(place.name)
            if found is None:
                found = self._begun.take(place) or await self._read(place)
                if found is None:
                    await self._check_imports(place, folder)
                    return None
                single[place] = found
            return found.value()

        try:
            return await read_each(keys, read)
        except Throttled:
            self._begun.keep(single)
            raise

    async def _folder_of(self, name: str, is_listed: bool) -> "_Folder | Malformed":  # noqa: FBT001  # one caller
        """The secrets of the folder itself by name, without what the identity may not describe.

        Those of imports are not taken from a list: it does not show that the folder's own one, or another
        import's, would count. Empty if the list is refused, as it is if one value may not be read.
        """
        if not is_listed:
            return _Folder()
        try:
            listed = await self._list(name, recursive=False)
        except Unauthenticated:
            raise
        except Denied:
            return _Folder()
        except Malformed as error:  # of this folder alone
            return error
        return _Folder({each.secret_key: each for each in listed.secrets}, bool(listed.imports))

    async def _check_imports(self, place: Place, folder: "_Folder") -> None:
        """Raise Malformed if an imported folder may have the secret: one that may not be seen is left out."""
        if folder.imports is None:
            listed = await self._list(place.folder, recursive=False, values=False)
            folder.imports = bool(listed.imports)
        if folder.imports:
            raise Malformed(
                f"reading secret {place.name}: the folder has none, and what it imports may not be visible",
                hint="name the folder that has it, as in /shared/NAME: only there a deletion can be seen",
            )

    def _place(self, key: str) -> Place:
        return place_of(key, self._folder)

    async def _read(self, place: Place, *, as_written: bool = False) -> Secret | None:
        """A secret; as it is written, with its references, only if the folder itself has it."""
        params = self._asked(place.folder)
        if as_written:
            params |= {"include_imports": "false", "expandSecretReferences": "false"}
        answer = await self._api.look_up(READ, params={**params, "type": "shared"}, name=place.name)
        return None if answer is None else answer.decode(_Answer).secret

    async def _list(self, folder: str, *, recursive: bool, values: bool = True) -> Listed:
        """The secrets of a folder and its imports; without `values` those that may only be described, too."""
        params = self._asked(folder)
        params["recursive"] = _word(truth=recursive)
        if not values:
            params |= {"viewSecretValue": "false", "expandSecretReferences": "false"}
        return (await self._api.call(LIST, params=params, folder=folder)).decode(Listed)

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
        name_matches = regexp.matcher(query.name or "", work)

        def matches(secret: Secret) -> bool:
            path = posixpath.join(secret.secret_path or self._folder, secret.secret_key)
            return name_matches(secret.secret_key) and path.startswith(query.path or "")

        search = partial(self._list, self._folder, recursive=self._scope.recursive)
        listed = await paced(search)
        secrets = listed.all()
        Looked("listing secrets").at(secrets)
        chosen = [each for each in secrets if matches(each)]
        if listed.imports or self._scope.recursive:
            described = (await paced(partial(search, values=False))).all()
            _check_shown(chosen, [each for each in described if matches(each)])
        found = Matches()
        for secret in chosen:
            found.add_value(secret.secret_key, secret.value())
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


def _check_shown(shown: Iterable[Secret], described: Iterable[Secret]) -> None:
    """Raise Denied for one that may only be described: lists leave it out below the folder and in imports."""
    for place in (Counter(map(_shown_at, described)) - Counter(map(_shown_at, shown))).elements():
        raise Denied(f"listing secrets: the identity may not see the value of {place.name}", hint=_READ)


def _shown_at(secret: Secret) -> Place:
    return Place(secret.secret_path, secret.secret_key)


def _word(*, truth: bool) -> str:
    return "true" if truth else "false"
