"""The client of a Barbican store: the endpoints, and what it does with them.

https://docs.openstack.org/barbican/latest/api/reference/secrets.html
"""

from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Final

import msgspec

from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "give the user the role observer or creator in the project, or the right in the secret's ACL"

PAYLOAD: Final = Endpoint("GET", "/secrets/{id}/payload", "reading secret {id}", _GRANT)
LIST: Final = Endpoint("GET", "/secrets", "listing secrets", _GRANT)

_PAGE: Final = 100
_TEXT: Final = "text/plain"
_BYTES: Final = "application/octet-stream"


class _Secret(msgspec.Struct):
    secret_ref: str
    name: str | None = None


class _Secrets(msgspec.Struct):
    secrets: list[_Secret] = []
    next: str | None = None


class BarbicanClient(ApiClient, SingleReads[SecretBytes]):
    """Reads, finds and probes. Keys are the IDs of secrets, or the addresses that end with them."""

    # -- read
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Secrets never change, and have no metadata to read."""
        return RemoteKey(_id_of(ref.key))

    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        """The payload, as text or, if it is not text, as bytes."""
        for kind in (_TEXT, _BYTES):
            answer = await self._api.look_up(
                PAYLOAD, headers={"Accept": kind}, accept=(HTTPStatus.NOT_ACCEPTABLE,), id=_id_of(key.key)
            )
            if answer is None:
                return None
            if answer.status != HTTPStatus.NOT_ACCEPTABLE:
                return SecretBytes(answer.body)
        raise Malformed(f"reading secret {key.key}: its payload is neither {_TEXT} nor {_BYTES}")

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The payload, or a member of the JSON object that it is, as JSON: a string keeps its quotes."""
        if not ref.property:
            return payload
        found = gojson.raw_fields(payload.raw, work).get(ref.property)
        if found is None:
            raise extract.missing_property(f"property {ref.property} not found in secret payload")
        return SecretBytes(found.encode())

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members, each as JSON."""
        found = self.value(payload, ref, work)
        members = {} if found is None else gojson.raw_fields(found.raw, work)
        return {name: SecretBytes(text.encode()) for name, text in members.items()}

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The payloads of secrets whose name matches, by their IDs: names need not be unique."""
        if query.name is None or query.path is not None or query.tags:
            raise Malformed("secrets in Barbican are found by name", hint="write find.name.regexp alone")
        matches, found = regexp.matcher(query.name, work), Matches()
        async for each in self._list(paced):
            if matches(each.name or ""):
                found.add_name(_id_of(each.secret_ref))
        return await found.read_values(self.read_current, paced, doing="barbican find")

    def _list(self, paced: Paced) -> AsyncGenerator[_Secret, None]:
        async def page(token: str) -> Page[_Secret]:
            start = int(token or "0")
            params = {"limit": str(_PAGE), "offset": str(start)}
            listed = (await self._api.call(LIST, params=params)).decode(_Secrets)
            return Page(listed.secrets, str(start + len(listed.secrets)) if listed.next else "")

        return pages(page, paced, doing="listing secrets")

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(LIST, params={"limit": "1"})
        return "ready"


def _id_of(key: str) -> str:
    return key.rpartition("/")[2]
