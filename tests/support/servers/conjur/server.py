"""Conjur's API as far as it concerns logins and variables, written from the published reference.

https://docs.cyberark.com/conjur-open-source/latest/en/content/developer/lp_rest_api.htm
"""

import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from tests.support.servers.rest import Refused, RestServer


class Conjur(RestServer):
    """The account `acme`, with one host that sees all but what is hidden. `now` is the clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.now = now
        self.host, self.key = "host/apps/shop", "canary-key-1"
        self.jwts: set[str] = set()
        """Those that the authenticator `prod` trusts."""
        self.versions: dict[str, list[bytes]] = {}
        self.annotations: dict[str, dict[str, str]] = {}
        self.logins: list[str] = []
        self.issued: list[str] = []
        self.page = 100

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/authn/acme/{host}/authenticate", self._by_key),
            web.post("/authn-jwt/prod/acme/authenticate", self._by_jwt),
            web.post("/authn-jwt/prod/acme/{host}/authenticate", self._by_jwt),
            web.get("/secrets/acme/variable/{id}", self._read),
            web.get("/secrets{_:/?}", self._batch),
            web.get("/resources/acme{_:/?}", self._list),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        codes = {401: "unauthorized", 403: "forbidden", 404: "not_found"}
        return Refused(status, {"error": {"code": codes.get(status, "error"), "message": message}})

    def token_of(self, request: web.Request) -> str:
        kind, _, text = request.headers.get("Authorization", "").partition(' token="')
        return b64decode(text.removesuffix('"')).decode() if kind == "Token" else ""

    async def _by_key(self, request: web.Request) -> web.Response:
        if (request.match_info["host"], await request.text()) != (self.host, self.key):
            raise Refused(401, None)
        return self._issue(request)

    async def _by_jwt(self, request: web.Request) -> web.Response:
        [jwt] = parse_qs(await request.text())["jwt"]
        if jwt not in self.jwts:
            raise Refused(401, None)
        return self._issue(request)

    def _issue(self, request: web.Request) -> web.Response:
        payload = json.dumps({"sub": self.host, "iat": int(self.now()), "n": len(self.issued)})
        token = {
            "protected": b64encode(b"{}").decode(),
            "payload": urlsafe_b64encode(payload.encode()).decode(),
            "signature": b64encode(b"s").decode(),
        }
        self.token = json.dumps(token)
        self.issued.append(self.token)
        self.logins.append(request.path)
        return web.Response(text=self.token, content_type="application/json")

    def _value(self, name: str, version: str = "") -> bytes:
        if name in self.refused:
            raise self.refusal(403, "the role may not execute it")
        held = self.versions.get(name, [])
        number = int(version) if version else len(held)
        if not 0 < number <= len(held):
            raise self.refusal(404, f"CONJ00076E Variable acme:variable:{name} is empty or not found.")
        return held[number - 1]

    async def _read(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.Response(body=self._value(request.match_info["id"], request.query.get("version", "")))

    async def _batch(self, request: web.Request) -> web.Response:
        self.enter(request)
        names = [full.split(":", 2)[2] for full in request.query["variable_ids"].split(",")]
        try:
            found = {f"acme:variable:{name}": self._value(name).decode() for name in names}
        except UnicodeDecodeError:
            raise self.refusal(406, "a value cannot be encoded: ask for base64") from None
        return web.json_response(found)

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        start, size = int(request.query.get("offset", "0")), int(request.query["limit"])
        found: list[dict[str, Any]] = [
            {
                "id": f"acme:variable:{name}",
                "annotations": [
                    {"name": key, "value": value, "policy": "acme:policy:root"}
                    for key, value in self.annotations.get(name, {}).items()
                ],
            }
            for name in sorted(self.versions)
        ]
        return web.json_response(found[start : start + size])
