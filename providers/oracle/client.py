"""The client of an Oracle store: the endpoints, and what it does with them.

https://docs.oracle.com/en-us/iaas/api/#/en/secretretrieval/, https://docs.oracle.com/en-us/iaas/api/#/en/secretmgmt/
"""

from base64 import b64decode, b64encode
from typing import Any, Final

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.http import Answer
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.oracle.spec import OracleSpec
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "write a policy that allows the user to read secret-bundles"
_LIST: Final = "write a policy that allows the user to inspect secrets"
_WRITE: Final = "write a policy that allows the user to manage secret-family, and to use the key"
_BY_NAME: Final = "/20190301/secretbundles/actions/getByName?secretName={name}&vaultId={vault}"

READ: Final = Endpoint("POST", _BY_NAME, "reading secret {name}", _READ)
READ_STAGE: Final = Endpoint("POST", f"{_BY_NAME}&stage={{stage}}", "reading secret {name}", _READ)

_PER_PAGE: Final = 100
_GONE: Final = frozenset({"DELETED", "DELETING", "PENDING_DELETION", "SCHEDULING_DELETION"})


class Endpoints:
    """The endpoints of the service that manages secrets, which has a host of its own."""

    def __init__(self, url: str) -> None:
        secrets = f"{literal(url)}/20180608/secrets"
        listing = f"{secrets}?compartmentId={{compartment}}&vaultId={{vault}}"
        self.list = Endpoint("GET", f"{listing}&limit={_PER_PAGE}", "listing secrets", _LIST)
        self.next = Endpoint("GET", f"{listing}&limit={_PER_PAGE}&page={{page}}", "listing secrets", _LIST)
        self.named = Endpoint("GET", f"{listing}&name={{name}}", "looking for secret {name}", _LIST)
        self.create = Endpoint("POST", secrets, "creating secret {name}", _WRITE)
        self.update = Endpoint("PUT", f"{secrets}/{{id}}", "changing secret {name}", _WRITE)
        self.delete = Endpoint(
            "POST", f"{secrets}/{{id}}/actions/scheduleDeletion", "deleting secret {name}", _WRITE
        )


class _Content(msgspec.Struct):
    content: str = ""


class Bundle(msgspec.Struct, rename="camel"):
    """One version of a secret."""

    secret_id: str
    secret_bundle_content: _Content

    @property
    def value(self) -> bytes:
        return b64decode(self.secret_bundle_content.content)

    def __repr__(self) -> str:
        return f"<Bundle {self.secret_id}>"


class _Listed(msgspec.Struct, rename="camel"):
    secret_name: str
    lifecycle_state: str
    freeform_tags: dict[str, str] | None = None


class OracleClient(Versioned, ComputingClient, TextValues, TextWrites[Bundle], SingleReads[SecretBytes]):
    """Reads, finds, pushes, deletes and probes. A version is a stage."""

    def __init__(
        self, spec: OracleSpec, api: Api, compute: Compute, *, vaults: str, memory: dict[str, Any]
    ) -> None:
        super().__init__(api, compute)
        self._spec = spec
        self._endpoints = Endpoints(vaults)
        self._gone: set[str] = memory.setdefault(f"gone from {spec.compartment} in {spec.vault}", set[str]())
        """Names that the list has shown in deletion. Later it does not have them any more."""

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        """A secret. Oracle's answer is the same if it is absent or denied; its state in the list decides.

        The list has one compartment, and names are read in all of the vault: what it never had is not absent.
        """
        name = key.key
        found = await self._read(name, key.version)
        if found is not None:
            self._gone.discard(name)  # its deletion was cancelled, or it was made anew
            return SecretBytes(found.value)
        await self._check_list(name)
        if name not in self._gone:
            raise Malformed(
                f"reading secret {name}: it does not exist, or is in another compartment and may not be read",
                hint=f"check its name; {_READ}",
            )
        return None

    async def _read(self, name: str, stage: str = "") -> Bundle | None:
        vault = self._spec.vault
        if stage:
            answer = await self._api.look_up(READ_STAGE, body={}, name=name, vault=vault, stage=stage)
        else:
            answer = await self._api.look_up(READ, body={}, name=name, vault=vault)
        return None if answer is None else answer.decode(Bundle)

    async def _check_list(self, name: str) -> None:
        """Raise Denied if the compartment has a secret, or if it is not known; note if it is in deletion."""
        if not self._spec.compartment:
            hint = f"{_READ}; with compartment in the store the error says more"
            raise Denied(f"reading secret {name}: it does not exist, or may not be read", hint=hint)
        listed = (await self._listing(self._endpoints.named, name=name)).decode(list[_Listed])
        if any(each.lifecycle_state not in _GONE for each in listed):
            self._gone.discard(name)
            raise Denied(f"reading secret {name}: permission denied, or it has no such stage", hint=_READ)
        if listed:
            self._gone.add(name)

    async def _listing(self, endpoint: Endpoint, *, name: str = "", page: str = "") -> Answer:
        spec = self._spec
        if not spec.compartment:
            raise Malformed("the store names no compartment", hint="write compartment")
        place = {"compartment": spec.compartment, "vault": spec.vault}
        given: Any = {**place, "name": name, "page": page}
        answer = await self._api.look_up(endpoint, **given)
        if answer is None:
            raise Denied("listing secrets: permission denied", hint=f"{_LIST}; check compartment and vault")
        return answer

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The secrets of the compartment whose names match, and that have all tags."""
        if query.path:
            raise Malformed(
                "secrets in Oracle's vaults have no paths", hint="write find.name.regexp or find.tags"
            )
        matches, found = regexp.matcher(query.name or "", work), Matches()
        wanted = dict(query.tags or ())
        async for each in pages(self._page, paced, doing="listing secrets"):
            tagged = wanted.items() <= (each.freeform_tags or {}).items()
            if each.lifecycle_state not in _GONE and tagged and matches(each.secret_name):
                found.add_name(each.secret_name)
        return await found.read_values(self.read_current, paced, doing="oracle find")

    async def _page(self, token: str) -> Page[_Listed]:
        answer = await self._listing(self._endpoints.next if token else self._endpoints.list, page=token)
        return Page(answer.decode(list[_Listed]), answer.headers.get("opc-next-page", ""))

    # -- push
    async def entry(self, key: str) -> Bundle | None:
        """None if the list has no such secret: Oracle refuses to make a second one in the vault."""
        found = await self._read(key)
        if found is None:
            await self._check_list(key)
        return found

    def text(self, entry: Bundle) -> bytes:
        return entry.value

    async def store(self, item: PushItem, text: bytes, entry: Bundle | None) -> None:
        spec, name = self._spec, item.remote_key
        content = {"contentType": "BASE64", "content": b64encode(text).decode()}
        if entry is not None:
            change = {"secretContent": content}
            await self._api.call(self._endpoints.update, body=change, id=entry.secret_id, name=name)
            return
        if not spec.encryption_key:
            raise Malformed("SecretStore must reference encryption key", hint="write encryptionKey")
        made = {"compartmentId": spec.compartment, "keyId": spec.encryption_key, "vaultId": spec.vault}
        body = {**made, "secretName": name, "secretContent": content}
        await self._api.call(self._endpoints.create, body=body, name=name)

    async def remove(self, key: str) -> None:
        entry = await self.entry(key)
        if entry is not None:
            await self._api.look_up(self._endpoints.delete, body={}, id=entry.secret_id, name=key)

    # -- probe
    async def probe(self) -> Readiness:
        """With a compartment, its secrets are listed; to read them needs no other right."""
        if not self._spec.compartment:
            return "unknown"
        await self._listing(self._endpoints.list)
        return "ready"
