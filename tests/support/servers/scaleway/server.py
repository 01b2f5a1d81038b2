"""Scaleway's Secret Manager as far as it concerns values, written from the published reference.

https://www.scaleway.com/en/developers/api/secret-manager
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Final

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

PROJECT: Final = "6d2c9f1e-7c5b-4c0a-9f31-0f6f2b1f7a10"

_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_arguments",
    401: "denied_authentication",
    403: "permissions_denied",
    404: "not_found",
    429: "too_many_requests",
}


class Scaleway(RestServer):
    """One project in the region `fr-par`."""

    def __init__(self) -> None:
        super().__init__()
        self.token = "0c0ffee0-0000-4000-8000-000000000001"
        self.secrets: dict[str, dict[str, Any]] = {}
        """By ID; the versions are lists of data and whether it is enabled."""

    def add(self, name: str, *versions: bytes, path: str = "/", tags: Iterable[str] = ()) -> str:
        """Put a secret there; its ID."""
        secret_id = f"00000000-0000-4000-8000-{len(self.secrets):012}"
        held = [[data, True] for data in versions]
        self.secrets[secret_id] = {"name": name, "path": path, "tags": list(tags), "versions": held}
        return secret_id

    def named(self, name: str, path: str | None = None) -> dict[str, Any] | None:
        """The secret of a name, in any folder or in one."""
        for secret in self.secrets.values():
            if secret["name"] == name and path in {None, secret["path"]}:
                return secret
        return None

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = "/secret-manager/v1beta1/regions/fr-par"
        return [
            web.get(f"{base}/secrets", self._list),
            web.post(f"{base}/secrets", self._create),
            web.delete(f"{base}/secrets/{{id}}", self._delete),
            web.get(f"{base}/secrets/{{id}}/versions/{{version}}", self._describe),
            web.get(f"{base}/secrets/{{id}}/versions/{{version}}/access", self._access),
            web.post(f"{base}/secrets/{{id}}/versions", self._add_version),
            web.post(f"{base}/secrets/{{id}}/versions/{{version}}/disable", self._disable),
            web.get(f"{base}/secrets-by-path/versions/{{version}}/access", self._access_by_path),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"type": _TYPES.get(status, "unknown"), "message": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("X-Auth-Token", "")

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        asked = request.query
        tags = set(asked.getall("tags", []))
        found = [
            self._shown(secret_id, secret)
            for secret_id, secret in self.secrets.items()
            if asked.get("name", secret["name"]) == secret["name"]
            and asked.get("path", secret["path"]) == secret["path"]
            and tags <= set(secret["tags"])
        ]
        size, number = int(asked.get("page_size", "50")), int(asked.get("page", "1"))
        some = found[size * (number - 1) : size * number]
        return web.json_response({"secrets": some, "total_count": len(found)})

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        if self.named(body["name"], body["path"]) is not None:
            raise self.refusal(409, "a secret of this name exists")
        secret_id = self.add(body["name"], path=body["path"], tags=body.get("tags") or ())
        return web.json_response(self._shown(secret_id, self.secrets[secret_id]))

    async def _delete(self, request: web.Request) -> web.Response:
        self.enter(request)
        self._secret(request)
        del self.secrets[request.match_info["id"]]
        return web.Response(status=204)

    async def _describe(self, request: web.Request) -> web.Response:
        self.enter(request)
        number = self._version(self._secret(request), request.match_info["version"])
        return web.json_response({"secret_id": request.match_info["id"], "revision": number})

    async def _access(self, request: web.Request) -> web.Response:
        return self._value(request, request.match_info["id"])

    async def _access_by_path(self, request: web.Request) -> web.Response:
        place = request.query["secret_name"], request.query["secret_path"]
        for secret_id, secret in self.secrets.items():
            if (secret["name"], secret["path"]) == place:
                return self._value(request, secret_id)
        self.enter(request)
        raise self.refusal(404, "resource is not found")

    def _value(self, request: web.Request, secret_id: str) -> web.Response:
        secret = self.secrets.get(secret_id)
        self.enter(request, secret["name"] if secret else "")
        if secret is None:
            raise self.refusal(404, "resource is not found")
        number = self._version(secret, request.match_info["version"])
        data = b64encode(secret["versions"][number - 1][0]).decode()
        return web.json_response({"secret_id": secret_id, "revision": number, "data": data, "type": "opaque"})

    async def _add_version(self, request: web.Request) -> web.Response:
        self.enter(request)
        secret, body = self._secret(request), await body_of(request)
        if body.get("disable_previous") and secret["versions"]:
            secret["versions"][-1][1] = False
        secret["versions"].append([b64decode(body["data"]), True])
        shown = {"secret_id": request.match_info["id"], "revision": len(secret["versions"])}
        return web.json_response({**shown, "status": "enabled", "latest": True})

    async def _disable(self, request: web.Request) -> web.Response:
        self.enter(request)
        secret = self._secret(request)
        number = self._version(secret, request.match_info["version"])
        secret["versions"][number - 1][1] = False
        return web.json_response({"revision": number, "status": "disabled"})

    def _secret(self, request: web.Request) -> dict[str, Any]:
        found = self.secrets.get(request.match_info["id"])
        if found is None:
            raise self.refusal(404, "resource is not found")
        return found

    def _version(self, secret: Mapping[str, Any], wanted: str) -> int:
        enabled = [number for number, (_, good) in enumerate(secret["versions"], 1) if good]
        number = {"latest_enabled": max(enabled, default=0), "latest": len(secret["versions"])}.get(wanted)
        number = int(wanted) if number is None else number
        if not 1 <= number <= len(secret["versions"]):
            raise self.refusal(404, "resource is not found")
        return number

    def _shown(self, secret_id: str, secret: Mapping[str, Any]) -> dict[str, Any]:
        shown = {name: secret[name] for name in ("name", "path", "tags")}
        return {"id": secret_id, "project_id": PROJECT, "region": "fr-par", **shown}
