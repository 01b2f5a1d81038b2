"""Key Vault's REST API, version 7: secrets, keys, certificates, and what was deleted of them.

Written from the published reference: https://learn.microsoft.com/rest/api/keyvault
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from aiohttp import web

from tests.support.jwts import private_key
from tests.support.servers.azure.directory import TENANT, VAULT, Directory
from tests.support.servers.azure.errors import Challenge, VaultError, bad, forbidden
from tests.support.servers.azure.material import created_key, imported_certificate, imported_key
from tests.support.servers.azure.objects import DAYS, NOUNS, Item, Shown, Version, attributes_of, tags_of

Handle: TypeAlias = Callable[[web.Request, str, str, Shown], Shown | None]

_NAME = re.compile(r"[0-9A-Za-z-]{1,127}\Z")
_PAGE = 25
_LARGEST = 25 * 1024
_DAY = 86400


class KeyVault:
    """One vault of one tenant. Whoever is among its members may do everything there."""

    def __init__(self, directory: Directory, now: Callable[[], float], tenant: str = TENANT) -> None:
        self.tenant = tenant
        self.members: set[str] = set()
        self.items: dict[str, Item] = {}
        """By path: `secrets/db`."""
        self.deleted: dict[str, tuple[Item, int]] = {}
        self.refused: set[str] = set()
        """Names that nobody may read."""
        self.calls: list[str] = []
        """What was asked, as `GET secrets/db`; tests count these."""
        self.writes = 0
        self._directory = directory
        self._now = now

    def routes(self) -> list[web.RouteDef]:
        kinds = "|".join((*NOUNS, *(f"deleted{kind}" for kind in NOUNS)))
        return [
            web.route("*", f"/{{kind:{kinds}}}", self.handle),
            web.route("*", f"/{{kind:{kinds}}}/{{rest:.*}}", self.handle),
        ]

    async def handle(self, request: web.Request) -> web.Response:
        """One call: who, what, where."""
        self._admit(request)
        if not re.fullmatch(r"7\.\d|20\d\d-\d\d-\d\d", request.query.get("api-version", "")):
            raise bad("The request URI contains an invalid or missing api-version.")
        kind = request.match_info["kind"]
        name, *rest = [part for part in request.match_info.get("rest", "").split("/") if part] or [""]
        self.calls.append(f"{request.method} {'/'.join(part for part in (kind, name, *rest) if part)}")
        if name and not _NAME.match(name):
            raise bad(f"The request URI contains an invalid name: {name}")
        if name in self.refused:
            raise forbidden("Caller is not authorized to perform action on resource.")
        body: Shown = await request.json() if request.can_read_body else {}
        answer = self._call(request.method, kind, name, rest)(request, f"{kind}/{name}", "".join(rest), body)
        if request.method != "GET":
            self.writes += 1
        return web.Response(status=204) if answer is None else web.json_response(answer)

    def _admit(self, request: web.Request) -> None:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        token = self._directory.tokens.get(text)
        where = _challenge(request, self.tenant)
        if scheme != "Bearer" or not text:
            raise Challenge("AKV10000: Request is missing a Bearer or PoP token.", where)
        if token is None or token.expires <= self._now():
            raise Challenge("AKV10046: Unable to resolve the key used for signature validation.", where)
        if token.audience != VAULT:
            raise Challenge(f"AKV10022: Invalid audience. Expected {VAULT}, found: {token.audience}.", where)
        if token.tenant not in {self.tenant, "adfs"}:
            raise Challenge("AKV10032: Invalid issuer. Expected one of the vault's tenant.", where)
        if token.client not in self.members:
            raise forbidden("Caller is not authorized to perform action on resource.")

    def _call(self, method: str, kind: str, name: str, rest: Sequence[str]) -> Handle:
        deleted = kind.startswith("deleted")
        shape = (method, deleted, bool(name), rest[0] if rest and rest[0].isalpha() else len(rest))
        table: dict[tuple[str, bool, bool, str | int], Handle] = {
            ("GET", False, False, 0): self._list,
            ("GET", False, True, 0): self._get,
            ("GET", False, True, 1): self._get,
            ("GET", False, True, "versions"): self._versions,
            ("PUT", False, True, 0): self._set,
            ("POST", False, True, "create"): self._create_key,
            ("POST", False, True, "import"): self._import,
            ("PATCH", False, True, 0): self._patch,
            ("PATCH", False, True, 1): self._patch,
            ("DELETE", False, True, 0): self._delete,
            ("GET", True, False, 0): self._list_deleted,
            ("GET", True, True, 0): self._get_deleted,
            ("POST", True, True, "recover"): self._recover,
            ("DELETE", True, True, 0): self._purge,
        }
        if shape not in table or (shape[3] == "import" and kind != "certificates"):
            raise web.HTTPNotFound(text="<html><body>404 - File or directory not found.</body></html>")
        return table[shape]

    # -- what is there
    def _item(self, path: str) -> Item:
        found = self.items.get(path)
        if found is None:
            kind, _, name = path.partition("/")
            told = f"A {NOUNS[kind].lower()} with (name/id) {name} was not found in this key vault."
            raise VaultError(404, f"{NOUNS[kind]}NotFound", told)
        return found

    def _get(self, request: web.Request, path: str, version: str, _body: Shown) -> Shown:
        item = self._item(path)
        found = item.version(version)
        if not found.enabled:
            noun = NOUNS[item.kind]
            told = f"Operation get is not allowed on a disabled {noun.lower()}."
            raise forbidden(told, f"{noun}Disabled")
        return item.shown(_base(request), found)

    def _list(self, request: web.Request, path: str, _version: str, _body: Shown) -> Shown:
        items = [self.items[each] for each in sorted(self.items) if each.startswith(path)]
        # A list of keys leaves out those of certificates; one of secrets does not.
        kept = [item for item in items if not (item.managed and item.kind == "keys")]
        return _page(request, [item.listed(_base(request)) for item in kept])

    def _versions(self, request: web.Request, path: str, _version: str, _body: Shown) -> Shown:
        item = self._item(path)
        return _page(request, [item.listed(_base(request), version) for version in item.versions])

    # -- writing
    def add(
        self, path: str, fields: Shown, body: Shown | None = None, *, managed: bool = False, name: str = ""
    ) -> Version:
        """A new version, past all who may be asked."""
        if path in self.deleted:
            kind, _, called = path.partition("/")
            told = f"{NOUNS[kind]} {called} is currently in a deleted but recoverable state, and its name "
            told += "cannot be reused; in this state, the secret can only be recovered or purged."
            raise VaultError(409, "Conflict", told, "ObjectIsDeletedButRecoverable")
        kind, _, called = path.partition("/")
        item = self.items.setdefault(path, Item(kind, called, managed=managed))
        now, given = int(self._now()), body or {}
        version = Version(fields, now, now, attributes_of(given), tags_of(given))
        if name:
            version.id = name
        item.versions.append(version)
        return version

    def _set(self, request: web.Request, path: str, _version: str, body: Shown) -> Shown:
        kind = path.partition("/")[0]
        if kind == "keys":
            version = self.add(path, {"key": imported_key(body.get("key") or {})}, body)
        elif kind == "secrets" and isinstance(value := body.get("value"), str) and len(value) <= _LARGEST:
            fields = {"value": value}
            if body.get("contentType"):
                fields["contentType"] = body["contentType"]
            version = self.add(path, fields, body)
        else:
            raise bad("Property value has invalid value")
        return self.items[path].shown(_base(request), version)

    def _create_key(self, request: web.Request, path: str, _version: str, body: Shown) -> Shown:
        if body.get("kty") != "RSA":
            raise bad("Property kty has invalid value")
        version = self.add(path, {"key": created_key(private_key("created"))}, body)
        return self.items[path].shown(_base(request), version)

    def _import(self, request: web.Request, path: str, _version: str, body: Shown) -> Shown:
        name = path.partition("/")[2]
        certificate, key, secret = imported_certificate(body)
        made = self.add(path, certificate, body)
        self.add(f"keys/{name}", key, body, managed=True, name=made.id)
        url = f"{_base(request)}/keys/{name}/{made.id}"
        self.add(f"secrets/{name}", {**secret, "kid": url}, body, managed=True, name=made.id)
        return self.items[path].shown(_base(request), made)

    def _patch(self, request: web.Request, path: str, version: str, body: Shown) -> Shown:
        item = self._item(path)
        found = item.version(version)
        found.attributes |= attributes_of(body)
        if body.get("tags") is not None:
            found.tags = tags_of(body)
        if body.get("contentType"):
            found.fields["contentType"] = body["contentType"]
        found.updated = int(self._now())
        return item.shown(_base(request), found)

    # -- deleting
    def _delete(self, request: web.Request, path: str, _version: str, _body: Shown) -> Shown:
        item = self._item(path)
        if item.managed:
            raise forbidden("Operation delete is not allowed on a managed object.", "Managed")
        for each in _all_of(path):
            if each in self.items:
                self.deleted[each] = self.items.pop(each), int(self._now())
        return self._shown_deleted(request, path)

    def _shown_deleted(self, request: web.Request, path: str) -> Shown:
        item, moment = self.deleted[path]
        base = _base(request)
        return {
            **item.shown(base, item.versions[-1]),
            "recoveryId": f"{base}/deleted{path}",
            "deletedDate": moment,
            "scheduledPurgeDate": moment + DAYS * _DAY,
        }

    def _known(self, path: str) -> str:
        path = path.removeprefix("deleted")
        if path not in self.deleted:
            kind, _, name = path.partition("/")
            raise VaultError(404, f"{NOUNS[kind]}NotFound", f"Deleted object not found: {name}")
        return path

    def _get_deleted(self, request: web.Request, path: str, _version: str, _body: Shown) -> Shown:
        return self._shown_deleted(request, self._known(path))

    def _list_deleted(self, request: web.Request, path: str, _version: str, _body: Shown) -> Shown:
        wanted = path.removeprefix("deleted")
        found = [each for each in sorted(self.deleted) if each.startswith(wanted)]
        return _page(request, [self._shown_deleted(request, each) for each in found])

    def _recover(self, request: web.Request, path: str, _version: str, _body: Shown) -> Shown:
        path = self._known(path)
        for each in _all_of(path):
            if each in self.deleted:
                self.items[each] = self.deleted.pop(each)[0]
        item = self.items[path]
        return item.shown(_base(request), item.versions[-1])

    def _purge(self, _request: web.Request, path: str, _version: str, _body: Shown) -> None:
        for each in _all_of(self._known(path)):
            self.deleted.pop(each, None)


def _all_of(path: str) -> list[str]:
    """A certificate goes and comes with its key and its secret."""
    kind, _, name = path.partition("/")
    return [path, f"keys/{name}", f"secrets/{name}"] if kind == "certificates" else [path]


def _base(request: web.Request) -> str:
    return f"{request.scheme}://{request.host}"


def _page(request: web.Request, rows: list[dict[str, Any]]) -> Shown:
    size = int(request.query.get("maxresults") or _PAGE)
    if not 1 <= size <= _PAGE:
        raise bad("The maxresults value is not between 1 and 25.")
    start = int(b64decode(request.query.get("$skiptoken") or "MA=="))
    rest: str | None = None
    if start + size < len(rows):
        token = b64encode(str(start + size).encode()).decode().replace("=", "%3D")
        version = request.query["api-version"]
        rest = f"{_base(request)}{request.path}?api-version={version}&$skiptoken={token}&maxresults={size}"
    return {"value": rows[start : start + size], "nextLink": rest}


def _challenge(request: web.Request, tenant: str) -> dict[str, str]:
    """Where to get a token, and for what."""
    where = f"{request.scheme}://{request.host}/{tenant}"
    return {"WWW-Authenticate": f'Bearer authorization="{where}", resource="{VAULT}"'}
