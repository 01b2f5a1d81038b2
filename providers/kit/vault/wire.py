"""Sends requests to Vault: headers, namespace, consistency state, unwrapping; and the adapter for hvac.

hvac is written for `requests`: its `Client` inspects responses as soon as a call returns, but an asynchronous
adapter has none yet. So only its small API classes are used, each of which converts its arguments into one
request of the adapter (`syncret.providers.kit.vault.requests`).

For read-your-writes on a cluster with lagging standbys, states that Vault reports (`X-Vault-Index`) are sent
back to it. A node that has not reached the state answers 412, or forwards the request to the active node if
`X-Vault-Inconsistent` asks for that.
"""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlencode

from syncret.config.fields import Json
from syncret.providers.contract import Compute
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Body, Http
from syncret.providers.kit.vault import replies
from syncret.providers.kit.vault.replies import Absent, Reply

HEADER: Final = "x-vault-index"
_FORM: Final = "v1"
_PARTS: Final = 5


class _State(NamedTuple):
    cluster: str
    local: int
    replicated: int

    def reaches(self, other: "_State") -> bool:
        """Whether this state includes the other one."""
        return (
            self.cluster == other.cluster
            and self.local >= other.local
            and self.replicated >= other.replicated
        )


class Index:
    """The newest state that Vault has reported."""

    __slots__ = ("_state", "_text")

    def __init__(self) -> None:
        self._text = ""
        self._state: _State | None = None

    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        return {"X-Vault-Index": self._text} if self._text else {}

    def note(self, text: str | None) -> None:
        """Record the state of a response, unless it is older, or no state."""
        new = _parsed(text) if text else None
        if text and new is not None and not (self._state is not None and self._state.reaches(new)):
            self._text, self._state = text, new


def _parsed(text: str) -> _State | None:
    """`v1:cluster:local index:replicated index:signature`, in base64."""
    try:
        parts = b64decode(text, validate=True).decode("ascii").split(":")
        if len(parts) != _PARTS or parts[0] != _FORM:
            return None
        return _State(parts[1], int(parts[2]), int(parts[3]))
    except ValueError:
        return None


UNWRAP: Final = "sys/wrapping/unwrap"


@dataclass(frozen=True, slots=True)
class Wire:
    """Sends requests to one server. `index` is None if states are not tracked."""

    http: Http
    compute: Compute
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    index: Index | None = None

    async def send(
        self,
        method: str,
        path: str,
        *,
        doing: str,
        token: str = "",
        namespace: str = "",
        query: Mapping[str, str | tuple[str, ...]] | None = None,
        body: Json = None,
    ) -> Reply | Absent:
        """The decoded response; `path` is quoted and relative to /v1. Raises SyncError."""
        headers = {"X-Vault-Request": "true", **self.headers}
        if token:
            headers["X-Vault-Token"] = token
        if namespace:
            headers["X-Vault-Namespace"] = namespace
        if self.index is not None:
            headers |= self.index.headers()
        url = f"/v1/{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        sent = None
        if body is not None:
            content = await self.compute(lambda work: gojson.marshal(body, work).encode())
            sent = Body(content, "application/json")
        answer = await self.http.request(
            method, url, doing=doing, headers=headers, body=sent, accept=replies.ACCEPTED
        )
        if self.index is not None:
            self.index.note(answer.headers.get(HEADER))
        return await self.compute(lambda work: replies.read(answer, work))

    async def unwrap(self, reply: Reply, *, doing: str, namespace: str) -> Reply:
        """The reply, unwrapped if it was wrapped (because of a header `X-Vault-Wrap-TTL`)."""
        inner = reply.part("wrap_info").get("token")
        if not isinstance(inner, str) or reply.data is not None or reply.part("auth"):
            return reply
        bare = Wire(self.http, self.compute, without(self.headers, "x-vault-wrap-ttl"), self.index)
        found = await bare.send("POST", UNWRAP, doing=doing, token=inner, namespace=namespace)
        return require(found, doing)


def without(headers: Mapping[str, str], name: str) -> dict[str, str]:
    """The headers without one; `name` is in lower case."""
    return {key: value for key, value in headers.items() if key.lower() != name}


def require(found: Reply | Absent, doing: str) -> Reply:
    """The reply of a path that always exists. Raises SyncError if Vault reports absence."""
    if isinstance(found, Absent):
        raise Malformed(f"{doing}: Vault knows no such path", hint="check the mount path and the namespace")
    return found


@dataclass(frozen=True, slots=True)
class Adapter:
    """The adapter of hvac's API classes, for one action with one token in one namespace."""

    wire: Wire
    doing: str
    token: str = field(default="", repr=False)
    namespace: str = ""

    async def get(self, url: str) -> Reply:
        return await self._send("GET", url)

    async def post(self, url: str, json: Json = None, wrap_ttl: str | None = None) -> Reply:
        """`wrap_ttl` is part of hvac's signature; no call that we use sets it."""
        del wrap_ttl
        return await self._send("POST", url, json)

    async def put(self, url: str, json: Json = None) -> Reply:
        return await self._send("PUT", url, json)

    async def login(self, url: str, use_token: bool = True, json: Json = None) -> Reply:  # noqa: FBT001, FBT002  # hvac's
        """As `post`: hvac does not keep the token."""
        del use_token
        return await self._send("POST", url, json)

    async def _send(self, method: str, url: str, body: Json = None) -> Reply:
        path = url.removeprefix("/v1/")
        found = await self.wire.send(
            method, path, doing=self.doing, token=self.token, namespace=self.namespace, body=body
        )
        reply = require(found, self.doing)
        return await self.wire.unwrap(reply, doing=self.doing, namespace=self.namespace)
