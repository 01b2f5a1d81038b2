"""Signs each request with an access key: Volcengine's signature, HMAC-SHA256.

https://www.volcengine.com/docs/6369/67269
"""

import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from syncret.providers.kit.rest.identities import Headers, Send
from syncret.providers.kit.rest.signed import AccessKey, Sign

_ALGORITHM: Final = "HMAC-SHA256"
_JSON: Final = "application/json"


def signer(url: str, region: str, now: Callable[[], float]) -> Sign:
    """Signs for the service at a URL, whose host is signed, too."""
    host = urlsplit(url).netloc

    def sign(send: Send, key: AccessKey) -> Headers:
        moment = f"{datetime.fromtimestamp(now(), UTC):%Y%m%dT%H%M%SZ}"
        digest = sha256(send.content).hexdigest()
        signed = {
            "content-type": _JSON,
            "host": host,
            "x-content-sha256": digest,
            "x-date": moment,
            **({"x-security-token": key.token} if key.token else {}),
        }
        path, _, query = send.path.partition("?")
        query = urlencode(sorted(parse_qsl(query)), quote_via=quote, safe="~")
        lines = "".join(f"{name}:{value}\n" for name, value in signed.items())
        names = ";".join(signed)
        request = f"{send.method}\n{path}\n{query}\n{lines}\n{names}\n{digest}"
        scope = f"{moment[:8]}/{region}/kms/request"
        text = "\n".join([_ALGORITHM, moment, scope, sha256(request.encode()).hexdigest()])
        signing = key.secret.encode()
        for part in scope.split("/"):
            signing = hmac.digest(signing, part.encode(), "sha256")
        signature = hmac.digest(signing, text.encode(), "sha256").hex()
        credential = f"Credential={key.id}/{scope}, SignedHeaders={names}, Signature={signature}"
        sent = {name: value for name, value in signed.items() if name.startswith("x-")}
        return {**sent, "Authorization": f"{_ALGORITHM} {credential}"}

    return sign
