"""Secret Manager's REST API, version 1: global secrets, or those of one location.

Written from the published reference: https://cloud.google.com/secret-manager/docs/reference/rest
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from typing import Any, TypeAlias

from aiohttp import web

from tests.support.servers.google.errors import GoogleError
from tests.support.servers.google.filters import compiled
from tests.support.servers.google.identity import CLOUD_PLATFORM, Identity
from tests.support.servers.google.secrets import SECRET_ID, Secret, check, etag, match_etag

Shown: TypeAlias = dict[str, Any]
Handle: TypeAlias = Callable[[web.Request, str, dict[str, Any]], Shown]

PAGE = 25_000
_UPDATABLE = {
    "labels",
    "annotations",
    "topics",
    "expireTime",
    "ttl",
    "rotation",
    "versionAliases",
    "versionDestroyTtl",
    "customerManagedEncryption",
}
_OUTPUT = {"name", "createTime", "etag", "secretId"}


class SecretManager:
    """The secrets of all projects in one location (none: the global ones)."""

    def __init__(self, identity: Identity, now: Callable[[], float], location: str = "") -> None:
        self.secrets: dict[str, Secret] = {}
        self.refused: set[str] = set()
        """Secrets (by id) that nobody may access."""
        self.calls: list[str] = []
        """What was asked, as `GET access`; tests count these."""
        self.writes = 0
        self._identity = identity
        self._now = now
        self._location = location
        self._verbs: dict[str, Handle] = {
            "GET access": self._access,
            "POST addVersion": self._add_version,
            "POST enable": self._state("ENABLED"),
            "POST disable": self._state("DISABLED"),
            "POST destroy": self._state("DESTROYED"),
        }

    def routes(self) -> list[web.RouteDef]:
        return [web.route("*", "/v1/projects/{project}/{rest:.+}", self.handle)]

    async def handle(self, request: web.Request) -> web.Response:
        """One call: who, what, where."""
        place, _, verb = request.match_info["rest"].partition(":")
        who = self._identity.caller(request.headers.get("Authorization", ""), CLOUD_PLATFORM)
        parts = place.split("/")
        if self._location:
            if parts[:1] != ["locations"] or parts[1:2] != [self._location]:
                raise GoogleError("INVALID_ARGUMENT", "The resource is not of this endpoint's location.")
            parts = parts[2:]
        if not parts or parts[0] != "secrets" or len(parts) > 4:
            raise web.HTTPNotFound(text="<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>")
        call = f"{request.method} {verb or '/'.join(parts[::2])}"
        project = self._identity.project(who, request.match_info["project"], call)
        name = "/".join([project, *(["locations", self._location] if self._location else []), *parts])
        self.calls.append(call)
        body: dict[str, Any] = await request.json() if request.can_read_body else {}
        answer = self._call(call, parts)(request, name, body)
        if request.method != "GET":
            self.writes += 1
        return web.json_response(answer)

    def _call(self, call: str, parts: list[str]) -> Handle:
        if call in self._verbs:
            return self._verbs[call]
        table: dict[tuple[str, int], Handle] = {
            ("GET secrets", 1): self._list,
            ("POST secrets", 1): self._create,
            ("GET secrets", 2): lambda _request, name, _body: self._secret(name).shown(),
            ("PATCH secrets", 2): self._patch,
            ("DELETE secrets", 2): self._delete,
            ("GET secrets/versions", 3): self._list_versions,
            ("GET secrets/versions", 4): self._version,
        }
        found = table.get((call, len(parts)))
        if found is None:
            raise GoogleError("NOT_FOUND", "Method not found.")
        return found

    # -- secrets
    def _secret(self, name: str) -> Secret:
        secret = self.secrets.get(name)
        if secret is None:
            raise GoogleError("NOT_FOUND", f"Secret [{name}] not found.")
        return secret

    def _create(self, request: web.Request, name: str, body: dict[str, Any]) -> Shown:
        secret_id = request.query.get("secretId", "")
        if not SECRET_ID.match(secret_id):
            raise GoogleError("INVALID_ARGUMENT", "The provided Secret ID is malformed.")
        name = f"{name}/{secret_id}"
        if name in self.secrets:
            raise GoogleError("ALREADY_EXISTS", f"Secret [{name}] already exists.")
        config = {key: value for key, value in body.items() if key not in _OUTPUT}
        check(config, regional=bool(self._location))
        self.secrets[name] = Secret(name, self._now(), config)
        return self.secrets[name].shown()

    def _patch(self, request: web.Request, name: str, body: dict[str, Any]) -> Shown:
        secret = self._secret(name)
        match_etag(body.get("etag"), secret)
        fields = [_camel(field) for field in request.query.get("updateMask", "").split(",") if field]
        if not fields or not set(fields) <= _UPDATABLE:
            raise GoogleError("INVALID_ARGUMENT", "Invalid update mask.")
        kept = {key: value for key, value in secret.config.items() if key not in fields}
        config = kept | {field: body[field] for field in fields if body.get(field)}
        check(config, regional=bool(self._location), versions=len(secret.versions))
        secret.config, secret.etag = config, etag()
        return secret.shown()

    def _delete(self, request: web.Request, name: str, _body: dict[str, Any]) -> Shown:
        match_etag(request.query.get("etag"), self._secret(name))
        del self.secrets[name]
        return {}

    def _list(self, request: web.Request, name: str, _body: dict[str, Any]) -> Shown:
        within = [self.secrets[each] for each in sorted(self.secrets) if each.startswith(f"{name}/")]
        return _page(request, "secrets", [secret.shown() for secret in within])

    # -- versions
    def _of(self, name: str) -> tuple[Secret, str]:
        secret, _, version = name.partition("/versions")
        return self._secret(secret), version.removeprefix("/")

    def _version(self, _request: web.Request, name: str, _body: dict[str, Any]) -> Shown:
        secret, version = self._of(name)
        return secret.version(version).shown()

    def _list_versions(self, request: web.Request, name: str, _body: dict[str, Any]) -> Shown:
        secret, _ = self._of(name)
        newest_first = [version.shown() for version in reversed(secret.versions)]
        return _page(request, "versions", newest_first)

    def _access(self, _request: web.Request, name: str, _body: dict[str, Any]) -> Shown:
        if name.split("/versions/", maxsplit=1)[0].rpartition("/")[2] in self.refused:
            told = f"Permission 'secretmanager.versions.access' denied for resource '{name}'"
            raise GoogleError("PERMISSION_DENIED", f"{told} (or it may not exist).")
        secret, version = self._of(name)
        return secret.version(version).accessed()

    def _add_version(self, _request: web.Request, name: str, body: dict[str, Any]) -> Shown:
        payload = body.get("payload", {})
        try:
            data = b64decode(payload.get("data", ""), validate=True)
        except Base64Error:
            raise GoogleError("INVALID_ARGUMENT", "Invalid value at 'payload.data'.") from None
        return self._secret(name).add(data, payload.get("dataCrc32c"), self._now).shown()

    def _state(self, state: str) -> Handle:
        def change(_request: web.Request, name: str, body: dict[str, Any]) -> Shown:
            secret, number = self._of(name)
            version = secret.version(number)
            match_etag(body.get("etag"), version)
            if version.state == "DESTROYED":
                raise GoogleError("FAILED_PRECONDITION", f"[{version.name}] is in DESTROYED state.")
            version.state, version.etag = state, etag()
            if state == "DESTROYED":
                version.payload, version.destroyed = b"", self._now()
            return version.shown()

        return change


def _page(request: web.Request, noun: str, resources: list[dict[str, Any]]) -> dict[str, Any]:
    """A page of the resources; a filter may leave less of it, or nothing."""
    matches = compiled(request.query.get("filter", ""))
    size = int(request.query.get("pageSize") or 0) or PAGE
    try:
        start = int(b64decode(request.query.get("pageToken") or "MA=="))
    except ValueError:
        raise GoogleError("INVALID_ARGUMENT", "The page token is invalid.") from None
    if not 0 <= size <= PAGE:
        raise GoogleError("INVALID_ARGUMENT", "The page size is invalid.")
    found = [resource for resource in resources[start : start + size] if matches(resource)]
    page: dict[str, Any] = {noun: found, "totalSize": sum(map(matches, resources))}
    if start + size < len(resources):
        page["nextPageToken"] = b64encode(str(start + size).encode()).decode()
    return {key: value for key, value in page.items() if value}


def _camel(field: str) -> str:
    head, *tail = field.split("_")
    return head + "".join(part.capitalize() for part in tail)
