"""Doppler's API as far as it concerns secrets, written from the published reference.

https://docs.doppler.com/reference/api, /secrets-download, /secrets-update, /docs/service-account-identities
"""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer, body_of

_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
_SPELLINGS: Final[Mapping[str, Callable[[list[str]], str]]] = {
    "upper-camel": lambda words: "".join(word.capitalize() for word in words),
    "lower-snake": lambda words: "_".join(words).lower(),
    "lower-kebab": lambda words: "-".join(words).lower(),
    "tf-var": lambda words: f"TF_VAR_{'_'.join(words).lower()}",
}


class Doppler(RestServer):
    """One workplace with one config, `prd` of the project `shop`."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[str, str] = {}
        self.identities: dict[str, str] = {}
        """The token that each service account identity trusts."""
        self.expires = datetime.now(UTC) + timedelta(hours=1)
        self.logins = 0

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.get("/v3/projects", self._projects),
            web.get("/v3/configs/config/secrets/download", self._download),
            web.get("/v3/configs/config/secret", self._read),
            web.post("/v3/configs/config/secrets", self._update),
            web.post("/v3/auth/oidc", self._log_in),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"messages": [message], "success": False})

    def token_of(self, request: web.Request) -> str:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        return b64decode(token).decode().removesuffix(":") if kind == "Basic" else token

    async def _projects(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.json_response({"projects": [{"id": "shop", "name": "shop"}], "page": 1, "success": True})

    async def _download(self, request: web.Request) -> web.Response:
        self.enter(request)
        self._check_config(request.query)
        wanted = request.query.get("secrets")
        names = sorted(self.secrets) if wanted is None else wanted.split(",")
        for name in names:
            if name in self.refused:
                raise self.refusal(403, "This token does not have access to requested secret")
        spelled = _SPELLINGS.get(request.query.get("name_transformer", ""), "_".join)
        found = {spelled(name.split("_")): self.secrets[name] for name in names if name in self.secrets}
        kind = request.query.get("format", "json")
        if kind == "env":
            text = "".join(f"{name}={json.dumps(value)}\n" for name, value in found.items())
        else:
            text = json.dumps(found)
        etag = f'W/"{sha256(text.encode()).hexdigest()}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(text=text, content_type="application/json", headers={"ETag": etag})

    async def _read(self, request: web.Request) -> web.Response:
        name = request.query["name"]
        self.enter(request, name)
        self._check_config(request.query)
        if name not in self.secrets:
            raise self.refusal(404, "Could not find requested secret")
        value = {"raw": self.secrets[name], "computed": self.secrets[name]}
        return web.json_response({"name": name, "value": value, "success": True})

    async def _update(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        self._check_config(body)
        if ("secrets" in body) == ("change_requests" in body):
            raise self.refusal(400, "exactly one of secrets or change_requests must be given")
        for name, value in body.get("secrets", {}).items():
            if not _NAME.fullmatch(name):
                raise self.refusal(400, "Secret names may only contain uppercase letters, numbers, and _")
            self.secrets[name] = value
        for change in body.get("change_requests", []):
            if change["shouldDelete"]:
                self.secrets.pop(change["name"], None)
        return web.json_response({"secrets": {}, "success": True})

    async def _log_in(self, request: web.Request) -> web.Response:
        body = await body_of(request)
        self.logins += 1
        if self.identities.get(body["identity"]) != body["token"]:
            raise self.refusal(401, "the identity does not trust this token")
        expires = self.expires.isoformat().replace("+00:00", "Z")
        return web.json_response({"token": self.token, "expires_at": expires, "success": True})

    def _check_config(self, asked: Mapping[str, Any]) -> None:
        if (asked.get("project", "shop"), asked.get("config", "prd")) != ("shop", "prd"):
            raise self.refusal(404, "Could not find requested config")
