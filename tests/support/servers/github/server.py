"""GitHub's API for Actions secrets and installations of Apps, written from its published reference.

https://docs.github.com/en/rest/actions/secrets, https://docs.github.com/en/rest/apps/apps
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from typing import Any, Final

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.support.jwts import BadToken, claims_of, pem, private_key
from tests.support.servers.github.sealed import opened
from tests.support.servers.rest import Refused, RestServer, body_of

PLACES: Final = (
    "/orgs/{org}/actions",
    "/repos/{org}/{repo}/actions",
    "/repos/{org}/{repo}/environments/{environment}",
)


class Github(RestServer):
    """An enterprise server with one App, which is installed in `acme`. Secrets by place and name."""

    base = "/api/v3"

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        """Without a clock it takes a login of any time."""
        super().__init__()
        self._now = now
        self.app_key = "github-1"
        self.sealing = X25519PrivateKey.from_private_bytes(bytes(range(32)))
        self.secrets: dict[tuple[str, str], dict[str, Any]] = {}

    def key_file(self) -> bytes:
        return pem(private_key(self.app_key)).encode()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        found = [web.post(f"{self.base}/app/installations/{{id}}/access_tokens", self._log_in)]
        for place in PLACES:
            base = f"{self.base}{place}/secrets"
            found += [
                web.get(base, self._list),
                web.get(f"{base}/public-key", self._public_key),
                web.get(f"{base}/{{name}}", self._look),
                web.put(f"{base}/{{name}}", self._write),
                web.delete(f"{base}/{{name}}", self._delete),
                web.get(f"{base}/{{name}}/repositories", self._seen_by),
            ]
        return found

    def refusal(self, status: int, message: str) -> Refused:
        shown = "Not Found" if status == 404 else message
        return Refused(status, {"message": shown, "documentation_url": "https://docs.github.com/rest"})

    def token_of(self, request: web.Request) -> str:
        """GitHub takes both schemes."""
        return request.headers.get("Authorization", "").removeprefix("Bearer ").removeprefix("token ")

    def value_of(self, place: str, name: str) -> bytes | None:
        """What GitHub reads in the box that it was given."""
        held = self.secrets.get((place, name.upper()))
        return None if held is None else opened(b64decode(held["encrypted_value"]), self.sealing)

    async def _log_in(self, request: web.Request) -> web.Response:
        token = self.token_of(request)
        try:
            claims = claims_of(token, lambda _name: private_key(self.app_key).public_key())
        except BadToken:
            raise self.refusal(401, "A JSON web token could not be decoded") from None
        if self._now is not None and not claims["iat"] <= self._now() < claims["exp"]:
            raise self.refusal(401, "'Expiration time' claim ('exp') must be a numeric value in the future")
        if request.match_info["id"] != "7891011" or claims["iss"] != "123456":
            raise self.refusal(404, "")
        document = {"token": self.token, "expires_at": "2033-01-01T00:00:00Z"}
        return web.json_response(document, status=201)

    def _place(self, request: web.Request) -> str:
        if request.match_info["org"] != "acme":
            raise self.refusal(404, "")
        return request.path.removeprefix(self.base).partition("/secrets")[0]

    def _held(self, request: web.Request) -> dict[str, Any]:
        name = request.match_info["name"].upper()
        self.enter(request, name.lower())
        place = self._place(request)
        if (place, name) not in self.secrets:
            raise self.refusal(404, "")
        return self.secrets[place, name]

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        names = [name for place, name in self.secrets if place == self._place(request)]
        return web.json_response({"total_count": len(names), "secrets": [{"name": name} for name in names]})

    async def _public_key(self, request: web.Request) -> web.Response:
        self.enter(request)
        self._place(request)
        key = b64encode(self.sealing.public_key().public_bytes_raw()).decode()
        return web.json_response({"key_id": "568250167242549743", "key": key})

    async def _look(self, request: web.Request) -> web.Response:
        held = self._held(request)
        shown = {name: held[name] for name in ("visibility",) if name in held}
        return web.json_response({"name": request.match_info["name"].upper(), **shown})

    async def _write(self, request: web.Request) -> web.Response:
        self.enter(request, request.match_info["name"].lower())
        body = await body_of(request)
        if body["key_id"] != "568250167242549743":
            raise self.refusal(422, "the key is an older one")
        key = (self._place(request), request.match_info["name"].upper())
        status = 204 if key in self.secrets else 201
        self.secrets[key] = body
        return web.Response(status=status)

    async def _delete(self, request: web.Request) -> web.Response:
        self._held(request)
        del self.secrets[self._place(request), request.match_info["name"].upper()]
        return web.Response(status=204)

    async def _seen_by(self, request: web.Request) -> web.Response:
        every = self._held(request).get("selected_repository_ids", [])
        size, number = int(request.query["per_page"]), int(request.query["page"])
        shown = every[(number - 1) * size : number * size]
        return web.json_response({"total_count": len(every), "repositories": [{"id": id_} for id_ in shown]})
