"""Secrets Manager's REST API (version 2), as far as this provider uses it."""

from http import HTTPStatus
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import Compute
from syncret.providers.errors import Malformed
from syncret.providers.ibm.refs import Place
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.api import Api, Refusals, says
from syncret.providers.kit.rest.endpoints import Endpoint

_GRANT: Final = "grant the store's identity the role SecretsReader on the instance or the secret group"
BY_ID: Final = Endpoint("GET", "/api/v2/secrets/{name}", "reading {name}", _GRANT)
BY_NAME: Final = Endpoint(
    "GET", "/api/v2/secret_groups/{group}/secret_types/{type}/secrets/{name}", "reading {name}", _GRANT
)


class _Secret(msgspec.Struct):
    secret_type: str


class _Error(msgspec.Struct):
    code: str = ""


class _Failure(msgspec.Struct):
    errors: list[_Error]


_is_ours: Final = says(_Failure, lambda failure: bool(failure.errors))


def _invalid(answer: Answer, _endpoint: Endpoint) -> Malformed | None:
    if not _is_ours(answer):
        return None
    return Malformed(f"{answer.doing}: Secrets Manager finds the request invalid", hint="check the key")


REFUSALS: Final = Refusals(
    vendor="Secrets Manager",
    check="does serviceUrl lead to the instance's endpoint, without a path?",
    is_absent=_is_ours,
    errors={HTTPStatus.BAD_REQUEST: _invalid},
)


async def read(api: Api, place: Place, compute: Compute) -> dict[str, Json]:
    """All fields of a secret, including its value. Raises Malformed if it does not exist."""
    if place.is_id:
        answer = await api.look_up(BY_ID, name=place.name)
    else:
        answer = await api.look_up(BY_NAME, group=place.group, type=place.type, name=place.name)
    if answer is None:
        parts = f"the secret group {place.group}, the type {place.type} and the name"
        hint = "check its id" if place.is_id else f"check {parts}"
        raise Malformed(f"secret {place.name} does not exist", hint=hint)
    found = answer.body
    answer.decode(_Secret)  # raises Malformed if it is no secret
    return await compute(lambda work: gojson.unmarshal_object(found, work))
