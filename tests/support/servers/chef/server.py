"""Chef's API for data bags, with signed requests, written from its published reference.

https://docs.chef.io/server/api_chef_server/#data, #authentication
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.jwts import pem, private_key
from tests.support.servers.rest import Refused, RestServer, body_of

_TOLERANCE: Final = 900
_SIGNED: Final = (
    "X-Ops-Content-Hash",
    "X-Ops-Sign",
    "X-Ops-Timestamp",
    "X-Ops-UserId",
    "X-Ops-Server-API-Version",
)


class Chef(RestServer):
    """The organization `acme`, and one user or client, `shop`, with a key."""

    def __init__(self, now: Callable[[], float], kind: str = "users") -> None:
        super().__init__()
        self.kind = kind
        self.token = "signed by shop"
        self.key = "chef-1"
        self.bags: dict[str, dict[str, dict[str, Any]]] = {}
        self.now = now

    def key_file(self) -> bytes:
        return pem(private_key(self.key)).encode()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        base = "/organizations/acme"
        return [
            web.get(f"{base}/{{kind:users|clients}}/{{name}}", self._identity),
            web.post(f"{base}/data", self._create_bag),
            web.get(f"{base}/data/{{bag}}", self._bag),
            web.post(f"{base}/data/{{bag}}", self._create),
            web.get(f"{base}/data/{{bag}}/{{item}}", self._read),
            web.put(f"{base}/data/{{bag}}/{{item}}", self._update),
            web.delete(f"{base}/data/{{bag}}/{{item}}", self._delete),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"error": [message]})

    def token_of(self, request: web.Request) -> str:
        """What a good signature, of this request and not long ago, stands for."""
        when = datetime.fromisoformat(request.headers["X-Ops-Timestamp"]).timestamp()
        public, lines = private_key(self.key).public_key(), range(1, 20)
        signature = "".join(request.headers.get(f"X-Ops-Authorization-{number}", "") for number in lines)
        try:
            if _is_old(request):
                text = public.recover_data_from_signature(b64decode(signature), PKCS1v15(), None)
                good = text == _signed_1_0(request)
            else:
                public.verify(b64decode(signature), _signed_1_3(request), PKCS1v15(), SHA256())
                good = True
        except InvalidSignature:
            good = False
        good = good and request.headers["X-Ops-UserId"] == "shop"
        return self.token if good and abs(self.now() - when) < _TOLERANCE else ""

    async def _entered(self, request: web.Request, key: str = "") -> dict[str, Any]:
        """The body of a request that is let in; its digest was signed."""
        self.enter(request, key)
        content = await request.read()
        if _digest(request, content) != request.headers["X-Ops-Content-Hash"]:
            raise self.refusal(401, "the content is another one")
        return await body_of(request) if content else {}

    def _held(self, request: web.Request) -> dict[str, dict[str, Any]]:
        bag = request.match_info["bag"]
        if bag not in self.bags:
            item = request.match_info.get("item")
            what = f"data bag item {item} for data bag {bag}" if item else f"data bag {bag}"
            raise self.refusal(404, f"Cannot load {what}")
        return self.bags[bag]

    async def _identity(self, request: web.Request) -> web.Response:
        await self._entered(request)
        kind, name = request.match_info["kind"], request.match_info["name"]
        if (kind, name) == (self.kind, "shop"):
            return web.json_response({"username" if kind == "users" else "name": name})
        if kind == "users":  # one text, where others are a list
            raise Refused(404, {"error": f"Could not find user {name}"})
        raise self.refusal(404, f"Cannot load client {name}")

    async def _create_bag(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        self.bags[body["name"]] = {}
        return web.json_response({"uri": f"/data/{body['name']}"}, status=201)

    async def _bag(self, request: web.Request) -> web.Response:
        await self._entered(request)
        return web.json_response({item: f"{request.url}/{item}" for item in self._held(request)})

    async def _create(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        held = self._held(request)
        if body["id"] in held:
            raise self.refusal(409, "Data Bag Item already exists")
        held[body["id"]] = body
        return web.json_response(body, status=201)

    def _item(self, request: web.Request) -> dict[str, Any]:
        item = request.match_info["item"]
        held = self._held(request)
        if item not in held:
            bag = request.match_info["bag"]
            raise self.refusal(404, f"Cannot load data bag item {item} for data bag {bag}")
        return held[item]

    async def _read(self, request: web.Request) -> web.Response:
        await self._entered(request, "/".join(request.match_info.values()))
        return web.json_response(self._item(request))

    async def _update(self, request: web.Request) -> web.Response:
        body = await self._entered(request)
        self._item(request)
        self._held(request)[request.match_info["item"]] = body
        return web.json_response(body)

    async def _delete(self, request: web.Request) -> web.Response:
        await self._entered(request)
        found = self._item(request)
        del self._held(request)[request.match_info["item"]]
        return web.json_response(found)


def _is_old(request: web.Request) -> bool:
    """Whether it is signed as in version 1.0 of the protocol, as Chef's clients for Go do."""
    return "version=1.0" in request.headers["X-Ops-Sign"]


def _digest(request: web.Request, content: bytes) -> str:
    old = _is_old(request)
    digest = hashlib.sha1(content, usedforsecurity=False) if old else hashlib.sha256(content)
    return b64encode(digest.digest()).decode()


def _signed_1_0(request: web.Request) -> bytes:
    named = [f"{name}:{request.headers[name]}" for name in ("X-Ops-Content-Hash", "X-Ops-Timestamp")]
    path = _digest(request, request.rel_url.raw_path.encode())
    user = request.headers["X-Ops-UserId"]
    lines = [f"Method:{request.method}", f"Hashed Path:{path}", *named, f"X-Ops-UserId:{user}"]
    return "\n".join(lines).encode()


def _signed_1_3(request: web.Request) -> bytes:
    lines = [f"Method:{request.method}", f"Path:{request.rel_url.raw_path}"]
    return "\n".join([*lines, *(f"{name}:{request.headers.get(name, '')}" for name in _SIGNED)]).encode()
