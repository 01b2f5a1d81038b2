"""The metadata server of a machine at Google: https://cloud.google.com/compute/docs/metadata."""

from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web

from tests.support.jwts import private_key, signed
from tests.support.servers.google.identity import CLOUD_PLATFORM, HOUR, Identity

_FLAVOR = {"Metadata-Flavor": "Google", "Server": "Metadata Server for VM"}


@dataclass
class Machine:
    """What one machine is told of itself. Without an `email` it has no service account."""

    identity: Identity
    project: str = "acme"
    email: str = ""
    universe: str = "googleapis.com"
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    """`cluster-name` and `cluster-location`, on a node of GKE."""
    asked: list[str] = field(default_factory=list[str])

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/computeMetadata/v1/{path:.*}", self.handle), web.get("/", self.handle)]

    async def handle(self, request: web.Request) -> web.Response:
        path = request.match_info.get("path", "")
        self.asked.append(path)
        if request.headers.get("Metadata-Flavor") != "Google" or "X-Forwarded-For" in request.headers:
            return web.Response(status=403, text="<!DOCTYPE html><title>403</title>", headers=_FLAVOR)
        if path.startswith("instance/attributes/"):
            value = self.attributes.get(path.rpartition("/")[2])
            return _text(value) if value else _absent()
        texts: dict[str, Callable[[], str]] = {
            "": lambda: "computeMetadata/\n",
            "project/project-id": lambda: self.project,
            "project/numeric-project-id": lambda: self.identity.projects[self.project],
            "universe/universe-domain": lambda: self.universe,
        }
        if path in texts:
            return _text(texts[path]())
        for account in ("default", self.email):
            prefix = f"instance/service-accounts/{account}/"
            if self.email and path.startswith(prefix):
                return self._account(request, path.removeprefix(prefix))
        return _absent()

    def _account(self, request: web.Request, what: str) -> web.Response:
        now = self.identity.now()
        if what == "email":
            return _text(self.email)
        if what == "" and request.query.get("recursive") == "true":
            told = {"aliases": ["default"], "email": self.email, "scopes": [CLOUD_PLATFORM]}
            return web.json_response(told, headers=_FLAVOR)
        if what == "token":
            scopes = request.query.get("scopes", CLOUD_PLATFORM).replace(",", " ").split()
            token = self.identity.issue(self.email, frozenset(scopes))
            given = {"access_token": token, "expires_in": HOUR - 1, "token_type": "Bearer"}
            return web.json_response(given, headers=_FLAVOR)
        if what == "identity" and request.query.get("audience"):
            claims = {
                "iss": "https://accounts.google.com",
                "aud": request.query["audience"],
                "sub": "104",
                "iat": int(now),
                "exp": int(now) + HOUR,
            }
            if request.query.get("format") == "full":
                claims |= {"email": self.email, "email_verified": True}
            return _text(signed(claims, private_key("google"), kid="google"))
        return _absent()


def _text(value: str) -> web.Response:
    return web.Response(text=value, content_type="application/text", headers=_FLAVOR)


def _absent() -> web.Response:
    return web.Response(status=404, text="<!DOCTYPE html><title>404</title>", headers=_FLAVOR)
