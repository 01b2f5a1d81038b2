"""Previder Vault's API as far as it concerns reading, written from its published client and OpenAPI pages.

https://vault.previder.io/swagger, https://github.com/previder/vault-cli
"""

from collections.abc import Iterable

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer


class Previder(RestServer):
    """One environment. Secrets are known by ID and by description."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[str, str] = {}
        self.kind = "ReadWrite"
        """Of the token; with one that is ReadOnly secrets are decrypted only."""

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.get("/token/info", self._token),
            web.get("/secret", self._list),
            web.get("/secret/{id}/decrypt", self._decrypt),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"message": message})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("X-API-Key", "")

    async def _token(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.json_response({"id": "t1", "tokenType": self.kind, "environmentId": "e1"})

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        if self.kind != "ReadWrite":
            raise self.refusal(403, "secrets are managed by another kind of token")
        return web.json_response([{"id": f"id-{name}", "description": name} for name in self.secrets])

    async def _decrypt(self, request: web.Request) -> web.Response:
        name = request.match_info["id"].removeprefix("id-")
        self.enter(request, name)
        if name not in self.secrets:
            raise self.refusal(404, "not found")
        return web.json_response({"secret": self.secrets[name]})
