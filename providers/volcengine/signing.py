"""Signs each request with an access key: Volcengine's signature, HMAC-SHA256.

https://www.volcengine.com/docs/6369/67269
"""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.identities import Headers, LoginContext, Send

_ALGORITHM: Final = "HMAC-SHA256"
_JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An access key, with a token if it is a temporary one."""

    id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)


class SignedRequests:
    """An identity that signs. The clock must be right to some minutes.

    Args:
        login: gives the access key.
        url: the service, whose host is signed, too.
    """

    def __init__(
        self,
        login: Callable[[], Awaitable[ExpiringValue[AccessKey]]],
        context: LoginContext,
        url: str,
        region: str,
    ) -> None:
        self._login = ExpiringLogin(login, now=context.now, log_in=context.log_in)
        self._host = urlsplit(url).netloc
        self._region = region
        self._now = context.now

    async def send(self, send: Send, /) -> Answer:
        return await self._login.use(lambda key: send(self._headers(send, key)))

    async def check(self) -> None:
        await self._login.get()

    async def end(self) -> None:
        """There is no session."""

    def _headers(self, send: Send, key: AccessKey) -> Headers:
        moment = f"{datetime.fromtimestamp(self._now(), UTC):%Y%m%dT%H%M%SZ}"
        digest = sha256(send.content).hexdigest()
        signed = {
            "content-type": _JSON,
            "host": self._host,
            "x-content-sha256": digest,
            "x-date": moment,
            **({"x-security-token": key.token} if key.token else {}),
        }
        path, _, query = send.path.partition("?")
        query = urlencode(sorted(parse_qsl(query)), quote_via=quote, safe="~")
        lines = "".join(f"{name}:{value}\n" for name, value in signed.items())
        names = ";".join(signed)
        request = f"{send.method}\n{path}\n{query}\n{lines}\n{names}\n{digest}"
        scope = f"{moment[:8]}/{self._region}/kms/request"
        text = "\n".join([_ALGORITHM, moment, scope, sha256(request.encode()).hexdigest()])
        signing = key.secret.encode()
        for part in scope.split("/"):
            signing = hmac.digest(signing, part.encode(), "sha256")
        signature = hmac.digest(signing, text.encode(), "sha256").hex()
        credential = f"Credential={key.id}/{scope}, SignedHeaders={names}, Signature={signature}"
        sent = {name: value for name, value in signed.items() if name.startswith("x-")}
        return {**sent, "Authorization": f"{_ALGORITHM} {credential}"}
