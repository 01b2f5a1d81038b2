"""Key Vault's REST API, as far as this provider uses it."""

from base64 import b64decode
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import msgspec

from syncret.providers.azurekv.objects import CERTIFICATE, KEY, SECRET, Dates, Found, Kind, Place
from syncret.providers.contract import Paced
from syncret.providers.errors import Malformed
from syncret.providers.kit.http import Answer, segments
from syncret.providers.kit.paging import Page, pages
from syncret.providers.kit.rest.api import Api as RestApi
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.values import SecretBytes

VERSION: Final = {"api-version": "7.4"}

_PAGE: Final = "25"
_ROLES: Final = {
    SECRET: ("Key Vault Secrets User", "Key Vault Secrets Officer"),
    KEY: ("Key Vault Reader", "Key Vault Crypto Officer"),
    CERTIFICATE: ("Key Vault Certificate User", "Key Vault Certificates Officer"),
}
"""The roles to grant for reading and for writing, for hints."""


class _Attributes(msgspec.Struct):
    enabled: bool = False
    exp: int | None = None
    created: int | None = None
    updated: int | None = None
    nbf: int | None = None


class JsonWebKey(msgspec.Struct, omit_defaults=True):
    """A key as the vault returns it, fields in the order in which the operator writes them into a Secret."""

    kid: str | None = None
    kty: str | None = None
    key_ops: list[str] | None = None
    n: str | None = None
    e: str | None = None
    d: str | None = None
    dp: str | None = None
    dq: str | None = None
    qi: str | None = None
    p: str | None = None
    q: str | None = None
    k: str | None = None
    key_hsm: str | None = None
    crv: str | None = None
    x: str | None = None
    y: str | None = None


class _Bundle(msgspec.Struct, rename="camel"):
    id: str = ""
    value: str | None = None
    content_type: str | None = None
    cer: str | None = None
    key: JsonWebKey | None = None
    attributes: _Attributes = msgspec.field(default_factory=_Attributes)
    tags: dict[str, str | None] | None = None


class Item(msgspec.Struct):
    """An entry of a list: a secret without its value."""

    id: str
    attributes: _Attributes = msgspec.field(default_factory=_Attributes)
    tags: dict[str, str | None] | None = None

    @property
    def name(self) -> str:
        return self.id.rstrip("/").rpartition("/")[2]

    @property
    def enabled(self) -> bool:
        return self.attributes.enabled


class _Page(msgspec.Struct, rename="camel"):
    value: list[Item] | None = None
    next_link: str | None = None


class Api:
    """The objects of one vault; None if there is no such object."""

    def __init__(self, rest: RestApi) -> None:
        self._rest = rest

    async def get(self, place: Place, version: str = "") -> Found | None:
        """One version with its value, by default the current one."""
        path = _path(place, *([version] if version else []))
        answer = await self._rest.look_up(
            _endpoint("GET", path, place.kind, f"reading {place}"), params=VERSION
        )
        return None if answer is None else _found(answer, place)

    def list(self, paced: Paced) -> AsyncGenerator[Item, None]:
        """All secrets, disabled ones too."""
        return pages(self._list_page, paced, doing="listing secrets")

    async def _list_page(self, link: str) -> Page[Item]:
        doing = "listing secrets"
        # the link to a page has the parameters
        endpoint = _endpoint("GET", link or "/secrets", SECRET, doing)
        answer = await self._rest.look_up(endpoint, params={} if link else {**VERSION, "maxresults": _PAGE})
        if answer is None:
            raise Malformed(f"{doing}: the vault has none to list", hint="check vaultUrl")
        page = answer.decode(_Page)
        following = page.next_link or ""
        if following and not self._rest.http.is_own_server(following):  # Azure writes the port, too
            raise Malformed(f"{doing}: the next page is on another server", hint="check vaultUrl")
        return Page(page.value or (), following)

    async def set(self, place: Place, fields: Mapping[str, Any]) -> None:
        """Create a version of a secret or key."""
        await self._write("PUT", _path(place), place, fields, doing=f"setting {place}")

    async def import_certificate(self, place: Place, fields: Mapping[str, Any]) -> None:
        """Create a version of a certificate."""
        await self._write("POST", f"{_path(place)}/import", place, fields, doing=f"importing {place}")

    async def tag(self, found: Found, tags: Mapping[str, str | None]) -> None:
        """Change the tags of an existing version."""
        place = found.place
        path = _path(place, found.version)
        await self._write("PATCH", path, place, {"tags": tags}, doing=f"tagging {place}")

    async def delete(self, place: Place) -> None:
        """Delete all versions (soft delete); an object that is already deleted is no error."""
        endpoint = _endpoint("DELETE", _path(place), place.kind, f"deleting {place}")
        await self._rest.look_up(endpoint, params=VERSION)

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._rest.check_login()

    async def _write(
        self, method: str, path: str, place: Place, fields: Mapping[str, Any], *, doing: str
    ) -> None:
        endpoint = _endpoint(method, path, place.kind, doing)
        if await self._rest.look_up(endpoint, params=VERSION, body=fields) is None:
            raise Malformed(f"{doing}: it was deleted meanwhile")

    def __repr__(self) -> str:
        return f"<Api {self._rest.http.base}>"


def _path(place: Place, *rest: str) -> str:
    return f"/{segments(place.kind.path, place.name, *rest)}"


def _endpoint(method: str, path: str, kind: Kind, doing: str) -> Endpoint:
    """An endpoint at a path that is quoted already."""
    reads, writes = _ROLES[kind]
    grant = f"grant the identity the role {reads if method == 'GET' else writes} on this vault"
    return Endpoint(method, literal(path), literal(doing), grant)


def _found(answer: Answer, place: Place) -> Found:
    bundle = answer.decode(_Bundle)
    given = bundle.attributes
    identity = (bundle.key.kid if bundle.key else None) or bundle.id
    return Found(
        place,
        _value(answer, bundle, place.kind),
        version=identity.rpartition("/")[2],
        tags=bundle.tags or {},
        dates=Dates(given.exp, given.created, given.updated, given.nbf),
        content_type=bundle.content_type,
    )


def _value(answer: Answer, bundle: _Bundle, kind: Kind) -> SecretBytes:
    if kind is KEY and bundle.key is not None:
        return SecretBytes(msgspec.json.encode(bundle.key))
    if kind is SECRET and bundle.value is not None:
        return SecretBytes(bundle.value.encode())
    if kind is CERTIFICATE and bundle.cer is not None:
        try:
            return SecretBytes(b64decode(bundle.cer, validate=True))
        except ValueError:
            pass
    raise Malformed(
        f"{answer.doing}: the answer holds no value", hint="does vaultUrl lead to a vault, and is it ready?"
    )
