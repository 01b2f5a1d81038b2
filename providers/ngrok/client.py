"""The client of an ngrok store: the endpoints, and what it does with them.

https://ngrok.com/docs/api/resources/vault-secrets/
"""

import hashlib
import json
from collections.abc import AsyncGenerator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from syncret.config.fields import Model
from syncret.providers.contract import Compute, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.push_options import decode_spec, encoded_source
from syncret.providers.kit.references import as_text
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.pushes import PushItem, RemoteTarget

_GRANT: Final = "give the API key's user the right to manage vault secrets"

VAULTS: Final = Endpoint("GET", "/vaults", "listing vaults", _GRANT)
SECRETS: Final = Endpoint("GET", "/vault_secrets", "listing secrets", _GRANT)
CREATE: Final = Endpoint("POST", "/vault_secrets", "creating secret {name}", _GRANT)
UPDATE: Final = Endpoint("PATCH", "/vault_secrets/{id}", "changing secret {name}", _GRANT)
DELETE: Final = Endpoint("DELETE", "/vault_secrets/{id}", "deleting secret {name}", _GRANT)

DESCRIPTION: Final = "Managed by External Secrets Operator"
"""The operator's description, so that either can take over the other's secrets."""

DIGEST: Final = "_sha256"
"""The member of the metadata that shows whether the value, which cannot be read, is the one to push."""


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for ngrok."""

    description: str = ""
    metadata: dict[str, str] = {}


class _Vault(msgspec.Struct):
    id: str
    name: str = ""


class _Secret(msgspec.Struct):
    id: str
    vault: _Vault
    name: str = ""
    description: str = ""
    metadata: str = ""


class _Page(msgspec.Struct):
    """A page of vaults or of secrets."""

    vaults: list[_Vault] | None = None
    secrets: list[_Secret] | None = None
    next_page_uri: str | None = None

    def __post_init__(self) -> None:
        if self.vaults is None and self.secrets is None:
            raise ValueError("this is no list")


class NgrokClient(ComputingClient):
    """Pushes, deletes and probes. ngrok does not return values, so nothing can be read."""

    def __init__(self, vault: str, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._vault = vault

    async def push(self, item: PushItem) -> None:
        """Store the value; nothing is written if its digest, the metadata and the description are there."""
        vault = await self._vault_id()
        if vault is None:
            raise Malformed(f"vault {self._vault} does not exist", hint="check vault.name, or create it")
        raw = item.value.raw
        if not item.secret_key:
            raw = await self._compute(lambda work: encoded_source(item, work))
        spec = decode_spec(item.metadata, PushSpec) or PushSpec()
        wanted = {
            "metadata": _members({**spec.metadata, DIGEST: hashlib.sha256(raw).hexdigest()}),
            "description": spec.description or DESCRIPTION,
        }
        value, name = as_text(raw, "push it in base64"), item.remote_key
        found = await self._find(vault, name)
        if found is None:
            body = {**wanted, "name": name, "value": value, "vault_id": vault}
            await self._api.call(CREATE, body=body, name=name)
        elif {"metadata": found.metadata, "description": found.description} != wanted:
            await self._api.call(UPDATE, body={**wanted, "value": value}, id=found.id, name=name)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the secret, whatever the property: it has no parts."""
        vault = await self._vault_id()
        found = None if vault is None else await self._find(vault, target.remote_key)
        if found is not None:
            await self._api.look_up(DELETE, id=found.id, name=target.remote_key)

    async def exists(self, target: RemoteTarget) -> bool:
        vault = await self._vault_id()
        return vault is not None and await self._find(vault, target.remote_key) is not None

    async def probe(self) -> Readiness:
        await self._api.call(SECRETS, params={"limit": "1"})
        return "ready"

    async def _vault_id(self) -> str | None:
        async for page in self._pages(VAULTS, self._vault):
            for vault in page.vaults or ():
                if vault.name == self._vault:
                    return vault.id
        return None

    async def _find(self, vault: str, name: str) -> _Secret | None:
        async for page in self._pages(SECRETS, name):
            for secret in page.secrets or ():
                if (secret.name, secret.vault.id) == (name, vault):
                    return secret
        return None

    def _pages(self, listing: Endpoint, name: str) -> AsyncGenerator[_Page, None]:
        """The pages of what has a name. Of the next one's address only the query is taken."""
        first = {"filter": f"obj.name == {json.dumps(name)}"}

        async def page(token: str) -> Page[_Page]:
            params = {**first, **dict(parse_qsl(urlsplit(token).query))}
            found = (await self._api.call(listing, params=params)).decode(_Page)
            return Page([found], found.next_page_uri or "")

        return pages(page, unpaced, doing=listing.doing)


def _members(metadata: dict[str, str]) -> str:
    """As Go writes a map."""
    return json.dumps(metadata, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
