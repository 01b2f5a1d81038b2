"""Opens a store: where its services are, and a login with an authorized key or as the machine.

https://yandex.cloud/en/docs/iam/operations/iam-token/create-for-sa, /api-design-guide/concepts/endpoints
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.contract import OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.yandex import machine_token
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http, Tls, json_body
from syncret.providers.kit.rest.api import Api, Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity, LoggedIn
from syncret.providers.kit.rest.logins import log_in_with, token_until
from syncret.providers.kit.yandex.spec import YandexSpec, home_of
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

AUDIENCE: Final = "https://iam.api.cloud.yandex.net/iam/v1/tokens"
"""The audience of a signed token, whatever the server's address is."""

_NOT_FOUND: Final = 5
_NO_PATH: Final = "Not Found"
"""What the gateway says of a path that it does not know, with the same code."""

_HOUR: Final = 3600

Login = Callable[[], Awaitable[ExpiringValue[SecretBytes]]]


class _Failure(msgspec.Struct):
    code: int
    message: str = ""


REFUSALS: Final = Refusals(
    vendor="Yandex Cloud",
    check="check apiEndpoint: does it know the services?",
    is_absent=says(_Failure, lambda failure: failure.code == _NOT_FOUND and failure.message != _NO_PATH),
)


class _Endpoint(msgspec.Struct):
    id: str
    address: str


class _Endpoints(msgspec.Struct):
    endpoints: list[_Endpoint]


class _Key(msgspec.Struct):
    id: str
    service_account_id: str
    private_key: str


class _Token(msgspec.Struct, rename="camel"):
    iam_token: str
    expires_at: str


@asynccontextmanager
async def connected_to(
    services: Sequence[str], spec: YandexSpec, context: OpenContext, own: Iterable[Receiver]
) -> AsyncGenerator[tuple[Api, Mapping[str, str]], None]:
    """The API of the first of these services, and the addresses of all. Raises SyncError."""
    tls = Tls(ca=await _authorities(spec, context))
    async with Http(home_of(spec), tls=tls, now=context.now, network=context.network) as http:
        answer = await http.request("GET", "/endpoints", doing="asking for the addresses of services")
    found = {each.id: f"https://{each.address}" for each in answer.decode(_Endpoints).endpoints}
    for service in (*services, "iam"):
        if service not in found:
            raise Malformed(
                f"{answer.doing}: there is no service {service}", hint="check apiEndpoint of the store"
            )

    async def identify(http: Http) -> Identity:
        return LoggedIn(await _choose_login(spec, found["iam"], http, context, own), context)

    async with connected(found[services[0]], context, identify, REFUSALS, tls=tls) as api:
        yield api, found


async def _authorities(spec: YandexSpec, context: OpenContext) -> bytes:
    ref = None if spec.ca_provider is None else spec.ca_provider.cert_secret_ref
    if ref is None:
        return b""
    return (await context.credentials.secret_key(ref.name, ref.key, ref.namespace)).raw


async def _choose_login(
    spec: YandexSpec, iam: str, http: Http, context: OpenContext, own: Iterable[Receiver]
) -> Login:
    ref = spec.auth.authorized_key_secret_ref
    if ref is None or not ref.name:
        return partial(machine_token, context.ambient(own), context.now)
    document = await context.credentials.secret_key(ref.name, ref.key, ref.namespace)
    read = await context.compute(lambda work: _read_key(document.raw, work))
    if read is None:
        raise Malformed(
            f'key "{ref.key}" of Secret "{ref.name}" holds no authorized key of a service account',
            hint="store the JSON file just as Yandex Cloud gave it",
        )
    return partial(_log_in, *read, f"{iam}/iam/v1/tokens", http, context.now)


def _read_key(document: bytes, work: Work) -> "tuple[_Key, RSAPrivateKey] | None":
    try:
        file = msgspec.json.decode(document, type=_Key)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    pem = file.private_key[max(0, file.private_key.find("-----BEGIN")) :]  # a remark stands before it
    key = jwt.private_key(pem.encode(), work)
    return None if key is None else (file, key)


async def _log_in(
    file: _Key, key: "RSAPrivateKey", url: str, http: Http, now: Callable[[], float]
) -> ExpiringValue[SecretBytes]:
    issued = int(now())
    claims = {"iss": file.service_account_id, "aud": AUDIENCE, "iat": issued, "exp": issued + _HOUR}
    signed = jwt.signed(key, claims, kid=file.id, algorithm="PS256")
    answer = await log_in_with(
        http,
        url,
        json_body({"jwt": signed}),
        doing="logging in to Yandex Cloud with an authorized key",
        hint="check authorizedKeySecretRef: was the key or its service account deleted, is the clock right?",
    )
    given = answer.decode(_Token)
    return token_until(given.iam_token, given.expires_at, answer)
