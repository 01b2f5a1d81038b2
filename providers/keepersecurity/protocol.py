"""Requests of Keeper Secrets Manager: encrypted for the server, signed by the device, answered encrypted."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec

from syncret.providers.contract import Compute
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled
from syncret.providers.keepersecurity import cipher
from syncret.providers.keepersecurity.configuration import Device
from syncret.providers.kit.http import Answer, Body
from syncret.providers.kit.rest.api import Api, Refusals
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.work import Work

T = TypeVar("T")

VERSION: Final = "mp17.3.0"
"""The client version of the protocol. Keeper accepts those of its own clients alone, of which this is one."""

_WINDOW: Final = 10.0
"""Seconds without a request after which Keeper allows as many as before, unless it says how long it takes."""

_CHECK: Final = "does hostname in the configuration lead to Keeper?"
_KEY_CHANGES: Final = 2
"""How often one request follows the server to another of its keys."""

_LONGEST: Final = 40
"""Characters of a code; anything else may be a text, which may quote."""


class _Refusal(msgspec.Struct):
    result_code: str = ""
    error: str = ""
    key_id: int | str = ""
    retry_after: float | str | None = None

    @property
    def code(self) -> str:
        code = self.result_code or self.error
        is_code = len(code) <= _LONGEST and code.isascii() and code.replace("_", "").isalpha()
        return code if is_code else ""


class _OtherKey(SyncError):
    """The server wants the request encrypted for another of its keys."""

    def __init__(self, number: str) -> None:
        super().__init__("the server has another key")
        self.number = number


def _refused(answer: Answer, endpoint: Endpoint) -> SyncError:
    """The error for a refusal, by its code; its text may quote the request."""
    refusal = answer.decode_if(_Refusal)
    code = "" if refusal is None else refusal.code
    doing = f"{answer.doing}: "
    if refusal is None or not code:
        return Denied(f"{doing}HTTP {answer.status}, but not from Keeper", hint=_CHECK)
    if code == "key":
        return _OtherKey(str(refusal.key_id))
    if code == "throttled":
        return Throttled(f"{doing}too many requests", retry_after=_seconds(refusal.retry_after))
    if code == "access_denied":
        return Denied(f"{doing}permission denied: Keeper refuses the device", hint=endpoint.grant)
    if code == "invalid_client_version":
        return Denied(f"{doing}Keeper refuses client {VERSION}", hint="a newer release of syncret may help")
    return Malformed(f"{doing}Keeper refuses it ({code})", hint=endpoint.grant)


def _seconds(given: float | str | None) -> float:
    return given if isinstance(given, float) and given > 0 else _WINDOW


REFUSALS: Final = Refusals(
    vendor="Keeper",
    check=_CHECK,
    errors=dict.fromkeys((HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN), _refused),
)


class Calls:
    """Calls of the endpoints as one device."""

    def __init__(self, device: Device, api: Api, compute: Compute) -> None:
        self.device = device
        self._api = api
        self.compute = compute
        self._server_key = device.server_key_id

    def __repr__(self) -> str:
        return f"<Calls {self._api!r}>"

    async def call(self, endpoint: Endpoint, payload: Mapping[str, object], **names: str) -> bytes:
        """The decrypted answer. Raises SyncError."""
        doing = endpoint.doing.format_map(names)
        named = endpoint._replace(doing=literal(doing))
        sent = msgspec.json.encode({"clientVersion": VERSION, "clientId": self.device.client_id, **payload})
        for _ in range(_KEY_CHANGES + 1):
            try:
                return await self._exchange(named, doing, sent)
            except _OtherKey as other:
                self._server_key = other.number
        raise Malformed(f"{doing}: the server wants another key for each request", hint=_CHECK)

    async def read(
        self,
        endpoint: Endpoint,
        payload: Mapping[str, object],
        decode: Callable[[bytes, Work], T],
        **names: str,
    ) -> T:
        """The answer, decoded from JSON by `decode`; in a thread if it is large."""
        answered = await self.call(endpoint, payload, **names)
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return await self.compute(partial(decode, answered))
        doing = endpoint.doing.format_map(names)
        raise Malformed(f"{doing}: the answer is JSON of another shape than the API has", hint=_CHECK)

    async def download(self, url: str, *, doing: str) -> bytes:
        """The encrypted content of a file, for which no proof is needed beside its URL."""
        if not url.startswith("https://"):
            raise Malformed(f"{doing}: the address that Keeper names is not https", hint=_CHECK)
        return (await self._api.http.request("GET", url, doing=doing)).body

    async def _exchange(self, endpoint: Endpoint, doing: str, sent: bytes) -> bytes:
        receiver = self.device.server_key_of(self._server_key)
        if receiver is None:
            raise Malformed(
                f"{doing}: the server has a key with the number {self._server_key[:8]!r}, which is not known",
                hint="a newer release of syncret may know it",
            )
        key = cipher.new_key()
        sealed_key, content = cipher.sealed_for(key, receiver), cipher.sealed(sent, key)
        signature = cipher.signature(sealed_key + content, self.device.key)
        headers = {
            "PublicKeyId": self._server_key,
            "TransmissionKey": b64encode(sealed_key).decode(),
            "Authorization": f"Signature {b64encode(signature).decode()}",
            "Accept": "*/*",
        }
        answer = await self._api.call(
            endpoint, headers=headers, body=Body(content, "application/octet-stream")
        )
        if not answer.body:
            return b""
        opened = await self.compute(partial(_opened, answer.body, key))
        if opened is None:
            answer.json()  # says what it is, if it is none
            raise Malformed(
                f"{doing}: the answer is JSON of another shape than the API has, and not encrypted",
                hint=_CHECK,
            )
        return opened


def _opened(data: bytes, key: bytes, work: Work) -> bytes | None:
    work.make(len(data))
    return cipher.opened(data, key)
