"""senhasegura's OAuth 2 endpoint and its application endpoint (module DSM), written from the published pages.

https://docs.senhasegura.io (DSM, API integration)
"""

from collections.abc import Iterable
from urllib.parse import parse_qs

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer


class Senhasegura(RestServer):
    """One application with its secrets, by identity."""

    def __init__(self) -> None:
        super().__init__()
        self.secret = "canary-secret-1"
        self.secrets: dict[str, list[dict[str, str]]] = {}
        self.error = False
        """Whether the application endpoint answers 200 with an error."""
        self.logins = 0

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/iso/oauth2/token", self._log_in),
            web.get("/iso/dapp/application", self._application),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"response": {"status": status, "message": message, "error": True}})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    async def _log_in(self, request: web.Request) -> web.Response:
        form = parse_qs(await request.text())
        wanted = {
            "grant_type": ["client_credentials"],
            "client_id": ["shop"],
            "client_secret": [self.secret],
        }
        if form != wanted:
            raise Refused(401, {"error": "invalid_client"})
        self.logins += 1
        self.token = f"canary-token-{self.logins}"
        return web.json_response({"token_type": "Bearer", "expires_in": 3600, "access_token": self.token})

    async def _application(self, request: web.Request) -> web.Response:
        self.enter(request)
        if self.error:
            return self.refusal(200, "application is not active").response()
        secrets = [
            {"secret_id": str(n), "secret_name": each, "identity": each, "version": "1", "data": data}
            for n, (each, data) in enumerate(self.secrets.items())
        ]
        outcome = {"status": 200, "message": "Application found", "error": False, "error_code": 0}
        return web.json_response({"response": outcome, "application": {"name": "shop", "secrets": secrets}})
