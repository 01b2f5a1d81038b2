"""Infisical's API as far as it concerns secrets and logins, written from the published reference.

https://infisical.com/docs/api-reference/endpoints/secrets/list, /universal-auth/login, /kubernetes-auth/login
"""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web

from syncret.providers.kit.auth.jwt import unsigned
from tests.support.servers.infisical.clouds import Clouds
from tests.support.servers.rest import Refused, RestServer, body_of

_WHITE: Final = " \t\n\v\f\r\u00a0\u2028\u2029\u3000\ufeff"
"""Of what the server's language takes as white space, what the tests use."""


class Infisical(RestServer):
    """The environment `prod` of the project `shop`. What is `refused` may not be described either."""

    def __init__(self) -> None:
        super().__init__()
        self.secret = "canary-secret-1"
        self.secrets: dict[tuple[str, str], str] = {}
        """By folder and name."""
        self.hidden: set[str] = set()
        """Names whose values are masked."""
        self.described: set[str] = set()
        """Names that the identity may describe, but not read."""
        self.imports: dict[str, list[str]] = {}
        """The folders that a folder imports."""
        self.unseen: set[str] = set()
        """Folders whose secrets the identity may not describe."""
        self.unread: set[str] = set()
        """Folders whose secrets it may only describe."""
        self.missing: set[str] = set()
        """Folders that do not exist."""
        self.allowed: int | None = None
        """How many calls are answered before there are too many."""
        self.project = "p-1"
        self.project_path = "/api/v1/projects/slug/shop"
        self.until: float | None = 4e9
        """The end of the next token, in seconds since the epoch."""
        self.expires_in = 7200
        """What is said of it: a setting of the identity."""
        self.ended: set[str] = set()
        """Tokens that have ended."""
        self.proofs: dict[str, dict[str, str]] = {}
        """What each method takes beside client credentials."""
        self.clouds = Clouds()
        """They check the proofs of the other methods."""
        self.logins: list[str] = []
        self.revoked: list[str] = []

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        one = "/api/v3/secrets/raw/{name}"
        return [
            web.get("/api/v3/secrets/raw", self._list),
            web.get(one, self._read),
            web.post(one, self._create),
            web.patch(one, self._change),
            web.delete(one, self._delete),
            web.get(self.project_path, self._project),
            web.post("/api/v1/auth/{method}/login", self._log_in),
            web.post("/api/v1/auth/token/revoke", self._revoke),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"reqId": "req-1", "statusCode": status, "message": message, "error": "Error"})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def enter(self, request: web.Request, key: str = "") -> None:
        if self.token_of(request) in self.ended:
            message = "Your token has expired. Please re-authenticate."
            raise Refused(403, {"statusCode": 403, "message": message, "error": "TokenError"})
        super().enter(request, key)
        if self.allowed is not None:
            if not self.allowed:
                raise self.refusal(429, "Rate limit exceeded. Please try again in 60 seconds")
            self.allowed -= 1
        if key in self.described:
            raise self.refusal(403, "You do not have permission to view secret value")

    async def _log_in(self, request: web.Request) -> web.Response:
        method, body = request.match_info["method"], await body_of(request)
        if method in self.clouds.methods:
            status = await self.clouds.verdict(method, body)
            if status != HTTPStatus.OK:
                raise self.refusal(status, "Something went wrong")
            return self._let_in(method)
        wanted = {"clientId": "shop", "clientSecret": self.secret}
        if method != "universal-auth":
            wanted = self.proofs.get(method, {"": ""})
        if body != wanted:
            raise self.refusal(401, "Invalid credentials")
        return self._let_in(method)

    def _let_in(self, method: str) -> web.Response:
        self.logins.append(method)
        claims = {"jti": f"canary-{len(self.logins)}", **({"exp": self.until} if self.until else {})}
        self.token = f"{unsigned({'alg': 'HS256'}, claims)}.signature"
        shown = {"accessToken": self.token, "expiresIn": self.expires_in, "accessTokenMaxTTL": 7200}
        return web.json_response({**shown, "tokenType": "Bearer"})

    async def _revoke(self, request: web.Request) -> web.Response:
        self.revoked.append((await body_of(request))["accessToken"])
        return web.json_response({"message": "Successfully revoked access token"})

    async def _project(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.json_response({"id": self.project, "slug": "shop"})

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        folder = self._folder(request.query)
        below = request.query["recursive"] == "true"
        values = request.query.get("viewSecretValue", "true") == "true"
        places = [
            place
            for place in self.secrets
            if place[0] == folder
            or (below and place[0].startswith(folder.rstrip("/") + "/") and self._visible(place[0], values))
        ]
        if values and self.described & {name for _, name in places}:
            raise self.refusal(403, "You are not allowed to readValue on secrets")
        imported = self.imports.get(folder, []) if request.query["include_imports"] == "true" else []
        imports = [{"secretPath": each, "secrets": self._listed(each, values)} for each in imported]
        found = [self._shown(place) for place in places if place[1] not in self.refused]
        return web.json_response({"secrets": found, "imports": imports})

    def _visible(self, folder: str, values: bool) -> bool:  # noqa: FBT001  # as the query has it
        """Whether lists have the secrets of a folder that is not the one asked for."""
        return folder not in self.unseen and not (values and folder in self.unread)

    def _listed(self, folder: str, values: bool) -> list[dict[str, Any]]:  # noqa: FBT001  # as above
        places = [place for place in self.secrets if place[0] == folder]
        return [self._shown(place) for place in places] if self._visible(folder, values) else []

    async def _read(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.enter(request, name)
        folder = self._folder(request.query)
        imports = self.imports.get(folder, []) if request.query["include_imports"] == "true" else []
        seen = [each for each in reversed(imports) if each not in self.unseen]
        for place in [(folder, name), *((each, name) for each in seen)]:
            if place in self.secrets:
                if place[0] in self.unread:
                    raise self.refusal(403, f"You do not have permission to view '{name}'")
                return web.json_response({"secret": self._shown(place)})
        raise self.refusal(404, f"Secret with name '{name}' not found")

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body, name = await body_of(request), request.match_info["name"]
        place = self._place(body), name
        if place in self.secrets:
            raise self.refusal(400, "Secret already exist")
        self.secrets[place] = _trimmed(body["secretValue"])
        return web.json_response({"secret": self._shown(place)})

    async def _change(self, request: web.Request) -> web.Response:
        self.enter(request)
        body, name = await body_of(request), request.match_info["name"]
        self._place(body)
        place = self._held(body, name)
        self.secrets[place] = _trimmed(body["secretValue"])
        return web.json_response({"secret": self._shown(place)})

    async def _delete(self, request: web.Request) -> web.Response:
        self.enter(request)
        body, name = await body_of(request), request.match_info["name"]
        self._place(body)
        place = self._held(body, name)
        shown = self._shown(place)
        del self.secrets[place]
        return web.json_response({"secret": shown})

    def _place(self, body: dict[str, Any]) -> str:
        if body.get("workspaceId") != self.project:
            raise self.refusal(404, "Project with ID '' not found")
        return self._folder({**body, "workspaceSlug": "shop"})

    def _folder(self, asked: Any) -> str:  # noqa: ANN401  # a query or a body
        if asked.get("workspaceSlug", "shop") != "shop":
            raise self.refusal(404, "Project with slug not found")
        folder: str = asked.get("secretPath", "/")
        if asked["environment"] != "prod" or folder in self.missing:
            raise self.refusal(404, f"Folder with path '{folder}' in environment with slug not found")
        return folder

    def _held(self, asked: Any, name: str) -> tuple[str, str]:  # noqa: ANN401  # as above
        place = self._folder(asked), name
        if place not in self.secrets:
            raise self.refusal(404, f"Secret with name '{name}' not found")
        return place

    def _shown(self, place: tuple[str, str]) -> dict[str, Any]:
        folder, name = place
        hidden = name in self.hidden
        id_, moment = f"{folder}:{name}", "2026-01-01T00:00:00.000Z"
        shown = {"id": id_, "_id": id_, "workspace": "p-1", "environment": "prod", "version": 1}
        shown |= {"secretComment": "", "createdAt": moment, "updatedAt": moment}
        return {
            **shown,
            "type": "shared",
            "secretKey": name,
            "secretValue": "<hidden-by-infisical>" if hidden else self.secrets[place],
            "secretValueHidden": hidden,
            "secretPath": folder,
        }


def _trimmed(value: Any) -> str:  # noqa: ANN401  # a member of a body
    text = str(value)
    return text.strip(_WHITE) + ("\n" if text.endswith("\n") else "")
