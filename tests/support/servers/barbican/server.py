"""Keystone's login and Barbican's secrets, written from the published references.

https://docs.openstack.org/api-ref/identity/v3/, https://docs.openstack.org/barbican/latest/api/
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from uuid import UUID

from aiohttp import web

from syncret.config.fields import Json
from tests.support.servers.rest import Refused, RestServer, body_of


class Barbican(RestServer):
    """The project `shop` of the domain `Default`, with a user of that name. Secrets by their IDs."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.token = ""
        self.password = "canary-password-1"
        self.secrets: dict[str, bytes] = {}
        self.empty: set[str] = set()
        """Secrets that have no payload yet."""
        self.names: dict[str, str] = {}
        """Of secrets that are not called like their IDs."""
        self.logins = 0
        self._now = now

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/identity/v3/auth/tokens", self._log_in),
            web.get("/key-manager", self._versions),
            web.get("/key-manager/v1/", self._version),
            web.get("/key-manager/v1/secrets", self._list),
            web.get("/key-manager/v1/secrets/{id}", self._describe),
            web.get("/key-manager/v1/secrets/{id}/payload", self._payload),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"code": status, "title": "Refused", "description": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("X-Auth-Token", "")

    async def _log_in(self, request: web.Request) -> web.Response:
        domain = {"domain": {"name": "Default"}}
        user = {"name": "shop", "password": self.password, **domain}
        identity = {"methods": ["password"], "password": {"user": user}}
        wanted = {"auth": {"identity": identity, "scope": {"project": {"name": "shop", **domain}}}}
        if await body_of(request) != wanted:
            raise Refused(401, {"error": {"code": 401, "title": "Unauthorized", "message": "refused"}})
        self.logins += 1
        self.token = f"gAAAA-canary-{self.logins}"
        url = f"{self.url}/key-manager"
        endpoints = [
            {"interface": "internal", "region": "RegionOne", "region_id": "RegionOne", "url": "http://x"},
            {"interface": "public", "region": "RegionOne", "region_id": "RegionOne", "url": url},
        ]
        catalog: list[Json] = [
            {"type": "image", "endpoints": []},
            {"type": "key-manager", "endpoints": endpoints},
        ]
        expires = datetime.fromtimestamp(self._now() + 3600, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        token: Json = {"methods": ["password"], "expires_at": expires, "catalog": catalog}
        return web.json_response({"token": token}, status=201, headers={"X-Subject-Token": self.token})

    async def _versions(self, _request: web.Request) -> web.Response:
        """Anybody may ask for them."""
        return web.json_response({"versions": [self._shown()]}, status=300)

    async def _version(self, _request: web.Request) -> web.Response:
        return web.json_response({"version": self._shown()})

    def _shown(self) -> Json:
        links: Json = [{"rel": "self", "href": f"{self.url}/key-manager/v1/"}]
        return {"id": "v1", "status": "CURRENT", "min_version": "1.0", "max_version": "1.1", "links": links}

    def _found(self, request: web.Request) -> str:
        """The ID of the secret that is asked for."""
        id_ = request.match_info["id"]
        self.enter(request, id_)
        if not _is_uuid(id_):
            raise self.refusal(404, "Not Found. Provided secret id is invalid.")
        if id_ not in self.secrets:
            raise self.refusal(404, "Secret not found.")
        return id_

    async def _describe(self, request: web.Request) -> web.Response:
        id_ = self._found(request)
        return web.json_response(
            {
                "name": self.names.get(id_, id_),
                "secret_ref": f"{self.url}/key-manager/v1/secrets/{id_}",
                "status": "ACTIVE",
                "secret_type": "opaque",
                "created": "2026-01-01T00:00:00",
                "updated": "2026-01-01T00:00:00",
                "content_types": {"default": self._kind(id_)},
            }
        )

    def _kind(self, id_: str) -> str:
        try:
            self.secrets[id_].decode()
        except UnicodeDecodeError:
            return "application/octet-stream"
        return "text/plain"

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        start, limit = int(request.query.get("offset", "0")), int(request.query["limit"])
        some = list(self.secrets)[start : start + limit]
        base = f"{self.url}/key-manager/v1/secrets"
        secrets = [{"name": self.names.get(each, each), "secret_ref": f"{base}/{each}"} for each in some]
        following = {"next": f"{base}?offset={start + limit}"} if start + limit < len(self.secrets) else {}
        return web.json_response({"secrets": secrets, "total": len(self.secrets), **following})

    async def _payload(self, request: web.Request) -> web.Response:
        id_ = self._found(request)
        if id_ in self.empty:
            raise self.refusal(404, "Not Found. Sorry but your secret has no payload.")
        payload, kind = self.secrets[id_], self._kind(id_)
        if request.headers["Accept"] != kind:
            raise self.refusal(406, "Not Acceptable")
        return web.Response(body=payload, content_type=kind)


def _is_uuid(id_: str) -> bool:
    """Whether it is one of version 4, as Barbican makes and writes them."""
    try:
        return str(UUID(id_, version=4)) == id_
    except ValueError:
        return False
