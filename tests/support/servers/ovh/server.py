"""OVHcloud's Secret Manager as far as it concerns secrets, written from its published reference.

https://help.ovhcloud.com/csm/en-secret-manager-rest-api, https://github.com/ovh/okms-sdk-go
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Any, Final

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

DOMAIN: Final = "734b9b45-8b1a-469c-b140-b10bd6540017"
_CODES: Final = {404: 17125377, 401: 50475011, 403: 16924673, 409: 50438145, 429: 50434049}
_NO_VERSION: Final = 17125378
_NOW: Final = "2026-01-01T00:00:00Z"


class Ovh(RestServer):
    """One OKMS domain. The versions of each path, the first one has the number 1."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[str, list[dict[str, Any]]] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = f"/api/{DOMAIN}"
        return [
            web.get(f"{base}/v2/secret", self._secrets),
            web.post(f"{base}/v2/secret", self._create),
            web.get(f"{base}/v2/secret/{{path}}", self._read),
            web.put(f"{base}/v2/secret/{{path}}", self._update),
            web.delete(f"{base}/v2/secret/{{path}}", self._delete),
            web.get(f"{base}/v1/secret/metadata/{{path:[^/]*}}", self._list),
        ]

    def refusal(self, status: int, message: str, code: int = 0) -> Refused:
        code = code or _CODES.get(status, 50401281)
        return Refused(status, {"error_code": code, "error_id": "e", "errors": [message], "request_id": "r"})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def _versions(self, request: web.Request) -> list[dict[str, Any]]:
        path = request.match_info["path"]
        self.enter(request, path)
        if path not in self.secrets:
            raise self.refusal(404, "secret not found")
        return self.secrets[path]

    async def _secrets(self, request: web.Request) -> web.Response:
        self.enter(request)
        listed, headers = self._page(request, list(self.secrets))
        found = [{"path": path, "metadata": _metadata(self.secrets[path])} for path in listed]
        return web.json_response(found, headers=headers)

    async def _read(self, request: web.Request) -> web.Response:
        held = self._versions(request)
        version = int(request.query.get("version", len(held)))
        if not 1 <= version <= len(held):
            raise self.refusal(404, "version not found", _NO_VERSION)
        data = {"data": held[version - 1]} if request.query.get("includeData") == "true" else {}
        found = {
            "path": request.match_info["path"],
            "metadata": _metadata(held),
            "version": {"id": version, "state": "active", "createdAt": _NOW, **data},
        }
        return web.json_response(found)

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        if body["path"] in self.secrets:
            raise self.refusal(409, "the secret exists")
        self.secrets[body["path"]] = [body["version"]["data"]]
        return _written(body["path"], self.secrets[body["path"]])

    async def _update(self, request: web.Request) -> web.Response:
        held = self._versions(request)
        if int(request.query.get("cas", len(held))) != len(held):
            raise self.refusal(409, "the current version is another one")
        held.append((await body_of(request))["version"]["data"])
        return _written(request.match_info["path"], held)

    async def _delete(self, request: web.Request) -> web.Response:
        self._versions(request)
        del self.secrets[request.match_info["path"]]
        return web.Response(status=204)

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        folder = request.match_info["path"]
        below = f"{folder}/" if folder else ""
        names = [path.removeprefix(below) for path in self.secrets if path.startswith(below)]
        keys = [name.partition("/")[0] + ("/" if "/" in name else "") for name in names]
        if not keys:
            raise self.refusal(404, "nothing is there")
        listed, headers = self._page(request, list(dict.fromkeys(keys)))
        return web.json_response({"data": {"keys": listed}, "request_id": "r"}, headers=headers)

    def _page(self, request: web.Request, every: list[str]) -> tuple[list[str], dict[str, str]]:
        """Two entries, or as many as asked for, from the cursor on; and where the next page begins."""
        first = int(urlsafe_b64decode(request.headers.get("X-Pagination-Cursor", "")) or 0)
        size = request.headers.get("X-Pagination-Size")
        if size is not None and not 10 <= int(size) <= 100:
            raise self.refusal(400, "the size of a page is 10 to 100")
        end = first + int(size or 2)
        following = {"X-Pagination-Cursor-Next": urlsafe_b64encode(b"%d" % end).decode()}
        return every[first:end], following if end < len(every) else {}


def _metadata(held: list[dict[str, Any]]) -> dict[str, Any]:
    return {"currentVersion": len(held), "oldestVersion": 1, "casRequired": False, "createdAt": _NOW}


def _written(path: str, held: list[dict[str, Any]]) -> web.Response:
    return web.json_response({"path": path, "metadata": _metadata(held)})
