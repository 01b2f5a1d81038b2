"""An HTTP API of secrets such as teams write for themselves, for the provider `webhook`.

GET|POST|DELETE /secrets/{key}[?version=]   the value as it is, with the header X-Api-Key
GET /namespaced                             who asks, by the header X-Namespace
"""

import asyncio
import hmac
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Sequence
from typing import Final

from aiohttp import web
from multidict import CIMultiDict

from syncret.providers.kit.ntlm import messages
from tests.support.servers.gate import broken

NONCE: Final = b"\x01\x23\x45\x67\x89\xab\xcd\xef"


class SecretsApi:
    """Values by key and version (empty: what a POST writes).

    `fault` is the status that all requests get; None: no answer.
    """

    def __init__(self, api_key: str) -> None:
        self.api_key = api_key
        self.values: dict[tuple[str, str], bytes] = {}
        self.refused: set[str] = set()
        self.writes = 0
        self.requests: Counter[str] = Counter()
        self.fault: int | None = 0
        self.headers: list[dict[str, str]] = []

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/secrets/{key}", self._secret)
        app.router.add_get("/namespaced", self._namespaced)
        return app

    async def _secret(self, request: web.Request) -> web.StreamResponse:
        key, version = request.match_info["key"], request.query.get("version", "")
        self.requests[f"{request.method} {key}"] += 1
        self.headers.append(dict(request.headers))
        if self.fault is None:
            return broken(request)
        if self.fault:
            return web.Response(status=self.fault, headers={"Retry-After": "3"}, text=self.api_key)
        if not hmac.compare_digest(request.headers.get("X-Api-Key", ""), self.api_key):
            return web.Response(status=401)
        if key in self.refused:
            return web.Response(status=403, text=str(self.values))
        if request.method == "DELETE":
            return web.Response(status=204 if self.values.pop((key, version), None) is not None else 404)
        if request.method == "POST":
            self.writes += 1
            self.values[key, version] = await request.read()
            return web.Response(status=201)
        value = self.values.get((key, version))
        return web.Response(status=404) if value is None else web.Response(body=value)

    async def _namespaced(self, request: web.Request) -> web.Response:
        return web.json_response({"namespace": request.headers.get("X-Namespace")})


class NtlmApi:
    """Lets one user in by NTLMv2, each connection anew, and answers with the body it was sent.

    `offers` are the schemes it names, each in a header of its own, as IIS does.
    """

    def __init__(self, user: str, domain: str, password: str, *, offers: Sequence[str] = ("NTLM",)) -> None:
        self._offers = offers
        self._key = messages.response_key(user, domain, password)
        self._let_in: set[asyncio.Transport | None] = set()
        self.handshakes = 0
        self.schemes: set[str] = set()
        """By which clients have tried to log in."""

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        connection = request.transport
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        self.schemes.add(scheme)
        if scheme != "NTLM":
            if connection in self._let_in:
                return web.Response(body=body or b"ok")
            return self._unauthorized()
        message = b64decode(text)
        if message[8] == 1:
            challenge = b64encode(_challenge()).decode()
            return web.Response(status=401, headers={"WWW-Authenticate": f"NTLM {challenge}"})
        self.handshakes += 1
        start = int.from_bytes(message[24:28], "little")
        length = int.from_bytes(message[20:22], "little")
        proof = message[start : start + length]
        if proof[:16] != hmac.digest(self._key, NONCE + proof[16:], "md5"):
            return self._unauthorized()
        self._let_in.add(connection)
        return web.Response(body=body or b"ok")

    def _unauthorized(self) -> web.Response:
        headers = CIMultiDict(("WWW-Authenticate", offer) for offer in self._offers)
        return web.Response(status=401, headers=headers)


def _challenge() -> bytes:
    info = b"\x02\x00\x0c\x00" + "Domain".encode("utf-16-le") + b"\x00" * 4
    head = b"NTLMSSP\x00\x02\x00\x00\x00" + b"\x00" * 4 + b"\x38\x00\x00\x00"
    place = len(info).to_bytes(2, "little") * 2 + b"\x38\x00\x00\x00"
    return head + messages.FLAGS.to_bytes(4, "little") + NONCE + b"\x00" * 8 + place + b"\x00" * 8 + info
