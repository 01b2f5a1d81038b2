"""BeyondTrust's Secrets API as far as it concerns static secrets, written from its published pages.

https://docs.beyondtrust.com/bt-docs/docs/secrets-api
"""

from collections.abc import Iterable
from typing import Any, Final

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer

_METADATA: Final = {"id": "m1", "version": 1, "createdAt": "2026-01-01T00:00:00Z"}
SITE: Final = "1f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f"


class WorkloadCredentials(RestServer):
    """One site. Secrets by their paths: `folder/name`, or a name alone in the root."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[str, dict[str, Any] | None] = {}
        self.tags: dict[str, dict[str, str]] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = f"/site/{SITE}/secrets"
        return [
            web.get(f"{base}/session", self._session),
            web.get(f"{base}/static", self._list),
            web.get(f"{base}/static/{{name}}", self._read),
            web.post(f"{base}/dynamic/{{name}}/generate", self._generate),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"error": "refused", "message": message})

    def token_of(self, request: web.Request) -> str:
        assert request.headers["bt-secrets-api-version"] == "2026-04-28"
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    async def _session(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.json_response({"valid": True})

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        folder = f"{request.query['path']}/" if request.query.get("path") else ""
        below = [path.removeprefix(folder) for path in self.secrets if path.startswith(folder)]
        if folder and not below:
            raise self.refusal(404, "folder not found")
        if request.query.get("recursive") != "true":
            below = [each for each in below if "/" not in each]
        listed = [{"path": f"{folder}{each}", "type": "static", "metadata": _METADATA} for each in below]
        return web.json_response({"data": listed})

    async def _read(self, request: web.Request) -> web.Response:
        name, folder = request.match_info["name"], request.query.get("folder", "")
        path = f"{folder}/{name}" if folder else name
        self.enter(request, path)
        if path not in self.secrets:
            raise self.refusal(404, "secret not found")
        metadata = {**_METADATA, "tags": self.tags.get(path, {})}
        return web.json_response({"secret": self.secrets[path], "path": path, "metadata": metadata})

    async def _generate(self, request: web.Request) -> web.Response:
        self.enter(request)
        if (request.query.get("folder"), request.match_info["name"]) != ("shop", "aws"):
            raise self.refusal(404, "dynamic secret not found")
        lease = {"leaseId": "l-1", "expiration": "2027-01-01T00:00:00Z"}
        keys = {"accessKeyId": "AKIAEXAMPLE", "secretAccessKey": "canary-key", "sessionToken": "t"}
        return web.json_response({"secret": {**keys, **lease}}, status=201)
