"""The client of a Scaleway store: the endpoints, and what it does with them.

https://www.scaleway.com/en/developers/api/secret-manager
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads, map_concurrently, reading
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem
from syncret.providers.scaleway.names import Name, parsed
from syncret.providers.scaleway.spec import ScalewaySpec
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_BASE: Final = "/secret-manager/v1beta1/regions/{region}"
_READ: Final = "give the API key the permission set SecretManagerReadOnly and SecretManagerSecretAccess"
_WRITE: Final = "give the API key the permission set SecretManagerFullAccess in the project"

LIST: Final = Endpoint("GET", f"{_BASE}/secrets", "listing secrets", _READ)
ACCESS: Final = Endpoint(
    "GET", f"{_BASE}/secrets/{{id}}/versions/{{version}}/access", "reading secret {key}", _READ
)
BY_PATH: Final = Endpoint(
    "GET", f"{_BASE}/secrets-by-path/versions/{{version}}/access", "reading secret {key}", _READ
)
CREATE: Final = Endpoint("POST", f"{_BASE}/secrets", "creating secret {key}", _WRITE)
ADD: Final = Endpoint("POST", f"{_BASE}/secrets/{{id}}/versions", "changing secret {key}", _WRITE)
DELETE: Final = Endpoint("DELETE", f"{_BASE}/secrets/{{id}}", "deleting secret {key}", _WRITE)

_CURRENT: Final = "latest_enabled"
_PAGE: Final = 100


class _Version(msgspec.Struct):
    secret_id: str
    data: bytes  # base64 on the wire


class _Secret(msgspec.Struct):
    id: str
    name: str = ""


class _Secrets(msgspec.Struct):
    secrets: list[_Secret]
    total_count: int


class Held(msgspec.Struct, frozen=True):
    """A secret with its current value; None if it has no version that is enabled."""

    id: str
    data: bytes | None


class ScalewayClient(Versioned, ComputingClient, SingleReads[SecretBytes], TextValues, TextWrites[Held]):
    """Reads, finds, pushes, deletes and probes."""

    def __init__(self, spec: ScalewaySpec, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._project = {"project_id": spec.project_id}
        self._region = spec.region

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        found = await self._version(key.key, key.version or _CURRENT)
        return None if found is None else SecretBytes(found.data)

    async def _version(self, key: str, version: str) -> _Version | None:
        """A version with its value: by path in one call, by name in two."""
        name = parsed(key)
        if name.folder:
            params = {**self._project, "secret_path": name.folder, "secret_name": name.name}
            answer = await self._api.look_up(
                BY_PATH, params=params, region=self._region, version=version, key=key
            )
        else:
            found = name.id or await self._id_of(name)
            if found is None:
                return None
            answer = await self._api.look_up(ACCESS, region=self._region, id=found, version=version, key=key)
        return None if answer is None else answer.decode(_Version)

    async def _id_of(self, name: Name) -> str | None:
        page = await self._list({**name.query(), "page_size": "1"})
        return page.secrets[0].id if page.secrets else None

    async def _list(self, params: Mapping[str, str], tags: Iterable[str] = ()) -> _Secrets:
        """A page of the secrets that have all tags; each tag is a parameter of its own."""
        query = urlencode([("tags", tag) for tag in tags])
        endpoint = LIST._replace(path=f"{LIST.path}?{query}") if query else LIST
        answer = await self._api.call(endpoint, params={**self._project, **params}, region=self._region)
        return answer.decode(_Secrets)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Current values of the secrets in a folder, with all the tags, whose names match."""
        if query.name is None and query.path is None and not query.tags:
            raise Malformed("nothing is searched for", hint="write find.name.regexp, find.path or find.tags")
        matches = regexp.matcher(query.name or "", work)
        wanted = {} if query.path is None else {"path": query.path.removeprefix("path:")}
        tags = sorted(tag for tag, _ in query.tags or ())

        async def page(token: str) -> Page[_Secret]:
            number = int(token or "1")
            listed = await self._list({**wanted, "page": str(number), "page_size": str(_PAGE)}, tags)
            more = listed.secrets and number * _PAGE < listed.total_count
            return Page(listed.secrets, str(number + 1) if more else "")

        names: dict[str, str] = {}
        found = Matches()
        async for secret in pages(page, paced, doing="listing secrets"):
            if matches(secret.name):
                names[secret.id] = secret.name
                found.add_name(secret.name)
        read = await map_concurrently(self._current, names, reading(paced), doing="scaleway find")
        for secret_id, value in read:
            if value is not None:
                found.add_value(names[secret_id], value)
        return found.values

    async def _current(self, secret_id: str) -> SecretBytes | None:
        return await self.read_current(f"id:{secret_id}")

    # -- push
    async def entry(self, key: str) -> Held | None:
        found = await self._version(key, _CURRENT)
        if found is not None:
            return Held(found.secret_id, found.data)
        name = parsed(key)
        secret_id = None if name.id else await self._id_of(name)
        return None if secret_id is None else Held(secret_id, None)

    def text(self, entry: Held) -> bytes:
        return entry.data or b""

    def is_stale(self, entry: Held, item: PushItem) -> bool:
        del item
        return entry.data is None

    async def store(self, item: PushItem, text: bytes, entry: Held | None) -> None:
        """Add a version, and disable the one before."""
        key = item.remote_key
        body = {"data": b64encode(text).decode(), "disable_previous": entry is not None}
        secret_id = entry.id if entry is not None else await self._create(key)
        await self._api.call(ADD, body=body, region=self._region, id=secret_id, key=key)

    async def _create(self, key: str) -> str:
        name = parsed(key)
        if name.id:
            raise Malformed(f"there is no secret {key}", hint="push to name:NAME or path:/FOLDER/NAME")
        body = {**self._project, "name": name.name, "path": name.folder or "/"}
        answer = await self._api.call(CREATE, body=body, region=self._region, key=key)
        return answer.decode(_Secret).id

    async def remove(self, key: str) -> None:
        name = parsed(key)
        secret_id = name.id or await self._id_of(name)
        if secret_id is not None:
            await self._api.look_up(DELETE, region=self._region, id=secret_id, key=key)

    # -- probe
    async def probe(self) -> Readiness:
        await self._list({"page_size": "1"})
        return "ready"
