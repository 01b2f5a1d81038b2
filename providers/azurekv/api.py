"""Key Vault's REST API, as far as this provider uses it."""

from base64 import b64decode
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import msgspec

from syncret.providers.azurekv.errors import EXPECTED, error_of
from syncret.providers.azurekv.objects import CERTIFICATE, KEY, SECRET, Dates, Found, Kind, Place
from syncret.providers.contract import Paced, SecretBytes
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringLogin, bearer
from syncret.providers.kit.http import Answer, Http, json_body, segments
from syncret.providers.kit.paging import Page, pages

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

    def __init__(self, http: Http, tokens: ExpiringLogin[SecretBytes]) -> None:
        self._http = http
        self._tokens = tokens

    async def get(self, place: Place, version: str = "") -> Found | None:
        """One version with its value, by default the current one."""
        path = _path(place, *([version] if version else []))
        answer = await self._call("GET", path, place.kind, doing=f"reading {place}")
        return None if answer is None else _found(answer, place)

    def list(self, paced: Paced) -> AsyncGenerator[Item, None]:
        """All secrets, disabled ones too."""
        return pages(self._list_page, paced, doing="listing secrets")

    async def _list_page(self, link: str) -> Page[Item]:
        doing = "listing secrets"
        if link:  # it contains the parameters
            answer = await self._call("GET", link, SECRET, doing=doing, params={})
        else:
            first = {**VERSION, "maxresults": _PAGE}
            answer = await self._call("GET", "/secrets", SECRET, doing=doing, params=first)
        page = _Page() if answer is None else answer.decode(_Page)
        following = page.next_link or ""
        if following and not self._http.is_own_server(following):  # Azure writes the port, too
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
        await self._call("DELETE", _path(place), place.kind, doing=f"deleting {place}")

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._tokens.get()

    async def _write(
        self, method: str, path: str, place: Place, fields: Mapping[str, Any], *, doing: str
    ) -> None:
        if await self._call(method, path, place.kind, doing=doing, body=fields) is None:
            raise Malformed(f"{doing}: it was deleted meanwhile")

    async def _call(
        self,
        method: str,
        url: str,
        kind: Kind,
        *,
        doing: str,
        params: Mapping[str, str] = VERSION,
        body: Mapping[str, Any] | None = None,
    ) -> Answer | None:
        """The response; None for "not found"."""
        content = None if body is None else json_body(body)
        reads, writes = _ROLES[kind]
        allow = f"grant the identity the role {reads if method == 'GET' else writes} on this vault"

        async def call(token: SecretBytes) -> Answer | None:
            answer = await self._http.request(
                method, url, doing=doing, params=params, headers=bearer(token), body=content, accept=EXPECTED
            )
            if answer.status not in EXPECTED:
                return answer
            error = error_of(answer, allow=allow)
            if error is not None:
                raise error
            return None

        return await self._tokens.use(call)

    def __repr__(self) -> str:
        return f"<Api {self._http.base}>"


def _path(place: Place, *rest: str) -> str:
    return f"/{segments(place.kind.path, place.name, *rest)}"


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
