"""A container registry at Azure, as far as tokens go.

Written from https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md
"""

import secrets
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.support.servers.azure.directory import MANAGEMENT, Directory

CATALOG = "registry:catalog:*"


class Registry:
    """Exchanges tokens of Entra for refresh tokens, and these for access tokens."""

    def __init__(self, directory: Directory) -> None:
        self.members: set[str] = set()
        self.refresh_tokens: dict[str, str] = {}
        """The client ID by token."""
        self.access_tokens: dict[str, str] = {}
        """The scope by token."""
        self.asked: list[dict[str, str]] = []
        self._directory = directory

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/oauth2/exchange", self._exchange),
            web.post("/oauth2/token", self._token),
            web.get("/acr/v1/_catalog", self._catalog),
        ]

    async def _catalog(self, request: web.Request) -> web.Response:
        """The names of all repositories: a call that takes an access token of its own scope."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.access_tokens.get(token) == CATALOG:
            return web.json_response({"repositories": ["app", "web"]})
        realm = f"{request.scheme}://{request.host}/oauth2/token"
        challenge = f'Bearer realm="{realm}",service="{request.host}",scope="{CATALOG}"'
        refused = _refused(401, "UNAUTHORIZED", "authentication required")
        refused.headers["WWW-Authenticate"] = challenge
        return refused

    async def _exchange(self, request: web.Request) -> web.Response:
        fields = await self._fields(request)
        token = self._directory.tokens.get(fields.get("access_token", ""))
        if fields.get("grant_type") != "access_token" or fields.get("service") != request.host:
            return _refused(400, "UNSUPPORTED", "the grant or the service is not right")
        if token is None or token.audience != MANAGEMENT or token.expires <= self._directory.now():
            return _refused(401, "UNAUTHORIZED", "authentication required")
        if token.client not in self.members:
            return _refused(403, "DENIED", "requested access to the resource is denied")
        text = f"refresh-{secrets.token_urlsafe(16)}"
        self.refresh_tokens[text] = token.client
        return web.json_response({"refresh_token": text})

    async def _token(self, request: web.Request) -> web.Response:
        fields = await self._fields(request)
        if fields.get("grant_type") != "refresh_token" or fields.get("service") != request.host:
            return _refused(400, "UNSUPPORTED", "the grant or the service is not right")
        if fields.get("refresh_token") not in self.refresh_tokens:
            return _refused(401, "UNAUTHORIZED", "authentication required")
        text = f"access-{secrets.token_urlsafe(16)}"
        self.access_tokens[text] = fields.get("scope", "")
        return web.json_response({"access_token": text})

    async def _fields(self, request: web.Request) -> Mapping[str, str]:
        fields = {name: str(value) for name, value in (await request.post()).items()}
        self.asked.append(fields)
        return fields


def _refused(status: int, code: str, message: str) -> web.Response:
    error: dict[str, Any] = {"errors": [{"code": code, "message": message}]}
    return web.json_response(error, status=status)
