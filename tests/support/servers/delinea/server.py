"""Delinea DevOps Secrets Vault's token endpoint and secrets, written from the published reference.

https://dsv.secretsvaultcloud.com/api
"""

from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of


class Delinea(RestServer):
    """One tenant, whose paths are below `/v1`."""

    def __init__(self) -> None:
        super().__init__()
        self.secret = "canary-secret-1"
        self.secrets: dict[str, Any] = {}
        """The data of each, by path."""
        self.logins = 0

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.post("/v1/token", self._log_in), web.get("/v1/secrets/{path:.*}", self._read)]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"code": status, "message": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    async def _log_in(self, request: web.Request) -> web.Response:
        body = await body_of(request)
        wanted = {"grant_type": "client_credentials", "client_id": "shop", "client_secret": self.secret}
        if body != wanted:
            raise self.refusal(401, "unable to authenticate")
        self.logins += 1
        self.token = f"canary-token-{self.logins}"
        return web.json_response({"accessToken": self.token, "tokenType": "bearer", "expiresIn": 3600})

    async def _read(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        self.enter(request, path)
        if path not in self.secrets:
            raise self.refusal(404, "unable to find item with specified identifier")
        shown = {"id": "4c1d0f3a", "path": path.replace("/", ":"), "version": "0"}
        return web.json_response({**shown, "data": self.secrets[path]})
