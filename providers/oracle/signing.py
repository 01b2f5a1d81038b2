"""Signs each request with the user's key: draft-cavage-http-signatures-08, as Oracle has it.

https://docs.oracle.com/en-us/iaas/Content/API/Concepts/signingrequests.htm
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from email.utils import formatdate
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.identities import Headers, Send

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_JSON: Final = "application/json"


class SignedRequests:
    """An identity that signs. A signature is good for five minutes, so the clock must be right.

    Args:
        key_id: tenancy, user and fingerprint.
        key: the user's private key.
        url: the service that paths are below.
    """

    def __init__(self, key_id: str, key: "RSAPrivateKey", url: str, now: Callable[[], float]) -> None:
        self._key_id = key_id
        self._key = key
        self._host = urlsplit(url).netloc
        self._now = now

    async def send(self, send: Send, /) -> Answer:
        return await send(self._headers(send))

    async def check(self) -> None:
        """There is nothing to log in to: the first call tells."""

    async def end(self) -> None:
        """There is no session."""

    def _headers(self, send: Send) -> Headers:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        target = urlsplit(send.path)
        path = f"{target.path}?{target.query}" if target.query else target.path
        signed = {
            "date": formatdate(self._now(), usegmt=True),
            "(request-target)": f"{send.method.lower()} {path}",
            "host": target.netloc or self._host,
        }
        if send.method != "GET":
            signed |= {
                "content-length": str(len(send.content)),
                "content-type": _JSON,
                "x-content-sha256": b64encode(hashlib.sha256(send.content).digest()).decode(),
            }
        text = "\n".join(f"{name}: {value}" for name, value in signed.items())
        signature = b64encode(self._key.sign(text.encode(), PKCS1v15(), SHA256())).decode()
        sent = {name: value for name, value in signed.items() if name in {"date", "x-content-sha256"}}
        return {
            **sent,
            "Authorization": f'Signature version="1",keyId="{self._key_id}",algorithm="rsa-sha256",'
            f'headers="{" ".join(signed)}",signature="{signature}"',
        }
