"""Onboardbase's API as far as it concerns reading, written from its published reference and client.

https://docs.onboardbase.com/api-reference, https://github.com/Onboardbase/go-cryptojs-aes-decrypt
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable

from aiohttp import web
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.support.servers.rest import Refused, RestServer


def encrypted(text: str, passcode: str, salt: bytes = b"12345678") -> str:
    """As CryptoJS does it: `openssl enc -aes-256-cbc -md md5 -salt`."""
    made = hashlib.md5(passcode.encode() + salt, usedforsecurity=False).digest()
    while len(made) < 48:
        made += hashlib.md5(made[-16:] + passcode.encode() + salt, usedforsecurity=False).digest()
    data = text.encode()
    missing = 16 - len(data) % 16
    encryptor = Cipher(algorithms.AES(made[:32]), modes.CBC(made[32:48])).encryptor()
    cipher = encryptor.update(data + bytes([missing]) * missing) + encryptor.finalize()
    return b64encode(b"Salted__" + salt + cipher).decode()


class Onboardbase(RestServer):
    """One team with one environment, `production` of the project `shop`."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[str, str] = {}
        self.passcode = "canary-passcode"

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.get("/api/v1/team/members", self._members), web.get("/api/v1/secrets", self._list)]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"message": message, "status": "error"})

    def token_of(self, request: web.Request) -> str:
        return request.headers.get("api_key", "")

    async def _members(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.json_response({"data": [], "status": "success"})

    async def _list(self, request: web.Request) -> web.Response:
        self.enter(request)
        if (request.query["project"], request.query["environment"]) != ("shop", "production"):
            raise self.refusal(404, "no such project")
        secrets = [
            {
                "id": f"s{number}",
                "key": encrypted(name, self.passcode),
                "value": encrypted(value, self.passcode),
            }
            for number, (name, value) in enumerate(self.secrets.items())
        ]
        data = {"project": {"title": "shop"}, "environment": {"title": "production"}, "secrets": secrets}
        return web.json_response({"data": data, "message": "", "status": "success"})
