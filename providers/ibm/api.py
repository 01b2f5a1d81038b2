"""Secrets Manager's REST API (version 2), as far as this provider uses it."""

from http import HTTPStatus
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import Compute, SecretBytes
from syncret.providers.errors import Denied, Malformed
from syncret.providers.ibm.refs import Place
from syncret.providers.kit.auth.logins import ExpiringLogin, bearer
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Answer, Http, segments

_EXPECTED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


class _Secret(msgspec.Struct):
    secret_type: str


class _Error(msgspec.Struct):
    code: str = ""


class _Failure(msgspec.Struct):
    errors: list[_Error]


class Api:
    """The secrets of one instance."""

    def __init__(self, http: Http, tokens: ExpiringLogin[SecretBytes], compute: Compute) -> None:
        self._http = http
        self._compute = compute
        self._tokens = tokens

    async def read(self, place: Place) -> dict[str, Json]:
        """All fields of a secret, including its value. Raises Malformed if it does not exist."""
        if place.is_id:
            path = f"/api/v2/secrets/{segments(place.name)}"
        else:
            location = segments(
                "secret_groups", place.group, "secret_types", place.type, "secrets", place.name
            )
            path = f"/api/v2/{location}"
        answer = await self._call(path, doing=f"reading {place.name}")
        if answer.status in _EXPECTED:
            raise _error_of(answer, place)
        answer.decode(_Secret)  # raises Malformed if it is no secret
        return await self._compute(lambda work: gojson.unmarshal_object(answer.body, work))

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._tokens.get()

    async def _call(self, path: str, *, doing: str) -> Answer:
        async def call(token: SecretBytes) -> Answer:
            headers = {**bearer(token), "Accept": "application/json"}
            return await self._http.request("GET", path, doing=doing, headers=headers, accept=_EXPECTED)

        return await self._tokens.use(call)

    def __repr__(self) -> str:
        return f"<Api {self._http.base}>"


def _error_of(answer: Answer, place: Place) -> Denied | Malformed:
    if answer.status == HTTPStatus.FORBIDDEN:
        return Denied(
            f"{answer.doing}: permission denied",
            hint="grant the store's identity the role SecretsReader on the instance or the secret group",
        )
    failure = answer.decode_if(_Failure)
    if failure is None or not failure.errors:
        return Malformed(
            f"{answer.doing}: HTTP {answer.status}, but not from Secrets Manager",
            hint="does serviceUrl lead to the instance's endpoint, without a path?",
        )
    if answer.status == HTTPStatus.NOT_FOUND:
        return Malformed(
            f"secret {place.name} does not exist",
            hint="check its id"
            if place.is_id
            else f"check the secret group {place.group}, the type {place.type} and the name",
        )
    return Malformed(f"{answer.doing}: Secrets Manager finds the request invalid", hint="check the key")
