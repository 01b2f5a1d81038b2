"""Signs each request with the user's key: Chef's protocol of signed headers, version 1.3.

https://docs.chef.io/server/api_chef_server/#authentication
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.identities import Headers, Send

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_VERSION: Final = "version=1.3"
_API: Final = "1"
_CHEF: Final = "16.0.0"
_LINE: Final = 60
"""Characters of the signature that one header takes."""


class SignedRequests:
    """An identity that signs. A signature is good for a quarter of an hour, so the clock must be right.

    Args:
        user: the name of the user or client.
        key: its private key.
        base: the path of the organization, which is signed, too.
    """

    def __init__(self, user: str, key: "RSAPrivateKey", base: str, now: Callable[[], float]) -> None:
        self._user = user
        self._key = key
        self._base = base
        self._now = now

    async def send(self, send: Send, /) -> Answer:
        return await send(self._headers(send.method, f"{self._base}{send.path}", send.content))

    async def check(self) -> None:
        """There is no login: the first call shows whether the key is accepted."""

    async def end(self) -> None:
        """There is no session."""

    def _headers(self, method: str, path: str, content: bytes) -> Headers:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        signed = {
            "Method": method,
            "Path": path,
            "X-Ops-Content-Hash": b64encode(hashlib.sha256(content).digest()).decode(),
            "X-Ops-Sign": _VERSION,
            "X-Ops-Timestamp": f"{datetime.fromtimestamp(self._now(), UTC):%Y-%m-%dT%H:%M:%SZ}",
            "X-Ops-UserId": self._user,
            "X-Ops-Server-API-Version": _API,
        }
        text = "\n".join(f"{name}:{value}" for name, value in signed.items())
        signature = b64encode(self._key.sign(text.encode(), PKCS1v15(), SHA256())).decode()
        lines = [signature[start : start + _LINE] for start in range(0, len(signature), _LINE)]
        sent = {name: value for name, value in signed.items() if name.startswith("X-")}
        return sent | {
            "X-Chef-Version": _CHEF,
            **{f"X-Ops-Authorization-{number}": line for number, line in enumerate(lines, 1)},
        }
