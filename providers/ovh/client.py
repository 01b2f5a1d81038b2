"""The client of an OVHcloud store: the endpoints, and what it does with them.

https://help.ovhcloud.com/csm/en-secret-manager-rest-api, https://github.com/ovh/okms-sdk-go
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches, Page, pages
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues
from syncret.providers.ovh.push import pushed_data
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "give the identity an IAM policy with okms:apikms:secret/get and secret/version/getData"
_LIST: Final = "give the identity an IAM policy with okms:apikms:secret/get"
_WRITE: Final = (
    "give the identity an IAM policy with okms:apikms:secret/create, secret/version/create and secret/delete"
)
_NEXT: Final = "x-pagination-cursor-next"
_FEWEST: Final = "10"
"""Entries of the smallest page that can be asked for."""

READ: Final = Endpoint("GET", "/v2/secret/{path}", "reading secret {path}", _READ)
ROOT: Final = Endpoint("GET", "/v1/secret/metadata/", "listing secrets", _LIST)
LIST: Final = Endpoint("GET", "/v1/secret/metadata/{path}", "listing secrets", _LIST)
SECRETS: Final = Endpoint("GET", "/v2/secret", "listing secrets", _LIST)
CREATE: Final = Endpoint("POST", "/v2/secret", "creating secret {path}", _WRITE)
UPDATE: Final = Endpoint("PUT", "/v2/secret/{path}", "changing secret {path}", _WRITE)
DELETE: Final = Endpoint("DELETE", "/v2/secret/{path}", "deleting secret {path}", _WRITE)


class _Version(msgspec.Struct):
    data: dict[str, Json] | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    current_version: int | None = None


class Secret(msgspec.Struct):
    """A secret with the data of one version."""

    version: _Version
    metadata: _Metadata | None = None

    @property
    def data(self) -> dict[str, Json]:
        return self.version.data or {}

    def __repr__(self) -> str:
        return f"<Secret {len(self.data)} members>"


class _Keys(msgspec.Struct):
    keys: list[str] | None = None


class _Listed(msgspec.Struct):
    data: _Keys | None = None


class OvhClient(Versioned, ComputingClient, TextValues, SingleReads[SecretBytes]):
    """Reads, finds, pushes, deletes and probes."""

    def __init__(self, api: Api, compute: Compute, *, checks_version: bool) -> None:
        super().__init__(api, compute)
        self._checks_version = checks_version

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        if key.version and not key.version.isdecimal():
            raise Malformed(f"invalid secret version {key.version!r}", hint="write a number, or leave it out")
        found = await self._read(key.key, key.version)
        if found is None:
            return None
        if not found.data:
            raise Malformed(f"reading secret {key.key}: secret version data is missing")
        return SecretBytes(await self._compute(lambda work: gojson.marshal(found.data, work).encode()))

    async def _read(self, path: str, version: str = "") -> Secret | None:
        params = {"includeData": "true", **({"version": version} if version else {})}
        answer = await self._api.look_up(READ, params=params, path=path)
        return None if answer is None else answer.decode(Secret)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Secrets below a path, by their whole paths; folder by folder."""
        if query.tags:
            raise Malformed("secrets in OVHcloud have no tags", hint="write find.name.regexp or find.path")
        path = (query.path or "").removesuffix("/")
        if path.startswith("/") or "//" in path:
            raise Malformed(f"invalid path {path!r}", hint="write it without a / before it, and no // in it")
        matches, looked, found = regexp.matcher(query.name or "", work), Looked("listing secrets"), Matches()
        folders = [path]
        while folders:
            folder = folders.pop()
            keys = await self._list(folder, paced)
            looked.at(keys)
            for key in keys:
                whole = f"{folder}/{key}" if folder else key
                if key.endswith("/"):
                    folders.append(whole.removesuffix("/"))
                elif matches(whole):
                    found.add_name(whole)
        return await found.read_values(self.read_current, paced, doing="ovh find")

    async def _list(self, folder: str, paced: Paced) -> Sequence[str]:
        """The keys of all pages of a folder; none if it is gone."""
        ask = partial(self._api.look_up, LIST if folder else ROOT, params={"list": "true"}, path=folder)

        async def page(cursor: str) -> Page[str]:
            answer = await ask(headers={"X-Pagination-Cursor": cursor} if cursor else {})
            if answer is None:
                return Page(())
            listed = answer.decode(_Listed).data
            return Page((listed.keys if listed else None) or (), answer.headers.get(_NEXT, ""))

        listed = pages(page, paced, doing="listing secrets")
        return [key async for key in listed if key and not key.startswith("/")]

    # -- push: whole secrets
    async def push(self, item: PushItem) -> None:
        """Write the keys of the Secret as the data of one secret; nothing if it is the same."""
        new = await self._compute(lambda work: pushed_data(item, work))
        found = await self._read(item.remote_key)
        body: dict[str, object] = {"version": {"data": new}}
        if found is None:
            await self._api.call(CREATE, body={"path": item.remote_key, **body}, path=item.remote_key)
        elif found.data != new:
            current = found.metadata.current_version if found.metadata else None
            checked = self._checks_version and current is not None
            params = {"cas": str(current)} if checked else {}
            await self._api.call(UPDATE, params=params, body=body, path=item.remote_key)

    async def delete(self, target: RemoteTarget) -> None:
        await self._api.look_up(DELETE, path=target.remote_key)

    async def exists(self, target: RemoteTarget) -> bool:
        found = await self._read(target.remote_key)
        return found is not None and (not target.property or target.property in found.data)

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(SECRETS, headers={"X-Pagination-Size": _FEWEST})
        return "ready"
