"""The client of a GitHub store: the endpoints, and what it does with them.

https://docs.github.com/en/rest/actions/secrets
"""

import re
from base64 import b64decode, b64encode
from binascii import Error
from typing import Final, Literal

import msgspec

from syncret.providers.contract import Compute, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.github.sealed_box import sealed
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.push_options import encoded_source
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.work import Work

_GRANT: Final = "give the App the right to write secrets here, and accept that at the installation"

_NAME: Final = re.compile(r"(?!GITHUB_)[A-Z_][A-Z0-9_]*", re.IGNORECASE)
_PER_PAGE: Final = 100


class Endpoints:
    """The endpoints of the secrets of an organization, of a repository or of an environment."""

    def __init__(self, place: str) -> None:
        secrets = f"{literal(place)}/secrets"
        self.list = Endpoint("GET", secrets, "listing secrets", _GRANT)
        self.key = Endpoint("GET", f"{secrets}/public-key", "reading the public key for secrets", _GRANT)
        self.look = Endpoint("GET", f"{secrets}/{{name}}", "looking for secret {name}", _GRANT)
        self.write = Endpoint("PUT", f"{secrets}/{{name}}", "writing secret {name}", _GRANT)
        self.delete = Endpoint("DELETE", f"{secrets}/{{name}}", "deleting secret {name}", _GRANT)
        self.seen_by = Endpoint(
            "GET", f"{secrets}/{{name}}/repositories", "listing who sees secret {name}", _GRANT
        )


class _PublicKey(msgspec.Struct):
    key: str
    key_id: str


class _Secret(msgspec.Struct):
    name: str
    visibility: str = ""


class _Repository(msgspec.Struct):
    id: int


class _Repositories(msgspec.Struct):
    repositories: list[_Repository]


class GithubClient(ComputingClient):
    """Pushes, deletes and probes: GitHub shows the values only to workflows.

    Args:
        place: the path of what the secrets belong to.
        visibility: which repositories see a secret of an organization; None: as before, for new ones all.
    """

    def __init__(
        self,
        api: Api,
        compute: Compute,
        *,
        place: str,
        of_organization: bool,
        visibility: Literal["all", "private"] | None,
    ) -> None:
        super().__init__(api, compute)
        self._endpoints = Endpoints(place)
        self._of_organization = of_organization
        self._visibility = visibility

    async def push(self, item: PushItem) -> None:
        """Store the value. It is written each time: what stands there cannot be compared."""
        name = _checked(item.remote_key)
        public_key = await self._public_key()
        value = item.value.raw
        if not item.secret_key:
            value = await self._compute(lambda work: encoded_source(item, work))

        def encrypted(work: Work) -> bytes:
            return sealed(value, _key_bytes(public_key), work)

        body: dict[str, object] = {
            "encrypted_value": b64encode(await self._compute(encrypted)).decode(),
            "key_id": public_key.key_id,
        }
        if self._of_organization:
            body |= await self._who_sees(name)
        await self._api.call(self._endpoints.write, body=body, name=name)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the secret, whatever the property: it has no parts."""
        name = _checked(target.remote_key)
        if await self._api.look_up(self._endpoints.delete, name=name) is None:
            await self._public_key()  # the same status says that the App sees nothing here

    async def exists(self, target: RemoteTarget) -> bool:
        found = await self._secret(_checked(target.remote_key))
        if found is None:
            await self._public_key()
        return found is not None

    async def probe(self) -> Readiness:
        await self._public_key()
        return "ready"

    async def _public_key(self) -> _PublicKey:
        """The key that values are encrypted with, which is there wherever secrets can be."""
        answer = await self._api.look_up(self._endpoints.key)
        if answer is not None:
            return answer.decode(_PublicKey)
        raise Malformed(
            f"{self._endpoints.key.doing}: the App sees no such organization, repository or environment",
            hint="check organization, repository and environment: is the App installed there?",
        )

    async def _secret(self, name: str) -> _Secret | None:
        answer = await self._api.look_up(self._endpoints.look, name=name)
        return None if answer is None else answer.decode(_Secret)

    async def _who_sees(self, name: str) -> dict[str, object]:
        """Which repositories see a secret of the organization: as before, unless the store says it."""
        if self._visibility is not None:
            return {"visibility": self._visibility}
        found = await self._secret(name)
        visibility = (found.visibility if found else "") or "all"
        if visibility != "selected":
            return {"visibility": visibility}

        async def page(token: str) -> Page[int]:
            params = {"per_page": str(_PER_PAGE), "page": token or "1"}
            answer = await self._api.call(self._endpoints.seen_by, params=params, name=name)
            seen = [each.id for each in answer.decode(_Repositories).repositories]
            following = str(int(params["page"]) + 1) if len(seen) == _PER_PAGE else ""
            return Page(seen, following)

        chosen = [each async for each in pages(page, unpaced, doing="listing who sees a secret")]
        return {"visibility": visibility, "selected_repository_ids": chosen}


def _checked(name: str) -> str:
    if _NAME.fullmatch(name):
        return name
    raise Malformed(
        f"{name!r} cannot be the name of a secret",
        hint="names in GitHub are letters, digits and _, and begin with neither a digit nor GITHUB_",
    )


def _key_bytes(public_key: _PublicKey) -> bytes:
    try:
        return b64decode(public_key.key, validate=True)
    except Error:
        return b""
