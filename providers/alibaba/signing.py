"""Signs each request with an access key: version 3 of Alibaba Cloud's signature, ACS3-HMAC-SHA256.

https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature
"""

import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from syncret.providers.kit.rest.identities import Headers, Send
from syncret.providers.kit.rest.signed import AccessKey, Sign

_ALGORITHM: Final = "ACS3-HMAC-SHA256"


def _nonce() -> str:
    return uuid4().hex


def timestamp(seconds: float) -> str:
    """A moment as Alibaba Cloud wants it, from seconds since the epoch."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def signer(url: str, now: Callable[[], float], *, nonce: Callable[[], str] = _nonce) -> Sign:
    """Signs for the service at a URL, whose host is signed, too, as are all headers of the call itself.

    The query must be sorted and quoted already. A nonce may be used once.
    """
    host = urlsplit(url).netloc

    def sign(send: Send, key: AccessKey) -> Headers:
        digest = sha256(send.content).hexdigest()
        sent = {
            **send.headers,
            "x-acs-content-sha256": digest,
            "x-acs-date": timestamp(now()),
            "x-acs-signature-nonce": nonce(),
            **({"x-acs-security-token": key.token} if key.token else {}),
        }
        signed = sorted({"host": host, **sent}.items())
        lines = "".join(f"{name}:{value}\n" for name, value in signed)
        names = ";".join(name for name, _ in signed)
        path, _, query = send.path.partition("?")
        request = f"{send.method}\n{path}\n{query}\n{lines}\n{names}\n{digest}"
        text = f"{_ALGORITHM}\n{sha256(request.encode()).hexdigest()}"
        signature = hmac.digest(key.secret.encode(), text.encode(), "sha256").hex()
        credential = f"Credential={key.id},SignedHeaders={names},Signature={signature}"
        return {**sent, "Authorization": f"{_ALGORITHM} {credential}"}

    return sign
