"""Opens a store: a token, or the credentials of a service account, for which tokens are exchanged."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.grpc.api import GrpcApi
from syncret.providers.kit.grpc.channel import Channel
from syncret.providers.kit.grpc.messages import encoded
from syncret.providers.kit.grpc.methods import Method
from syncret.providers.kit.http import Tls
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.identities import FixedHeaders, Identity, LoggedIn
from syncret.providers.nebiusmysterybox.client import NebiusClient
from syncret.providers.nebiusmysterybox.spec import NebiusSpec
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

AUDIENCE: Final = "token-service.iam.new.nebiuscloud.net"
"""The audience of a signed token, whatever the domain is."""

_EXCHANGE: Final = Method(
    "nebius.iam.v1.TokenExchangeService", "Exchange", "logging in with the service account's key"
)
_OAUTH: Final = "urn:ietf:params:oauth"
_MINUTE: Final = 60


class _Credentials(msgspec.Struct, rename="kebab"):
    kid: str
    sub: str
    private_key: str


class _File(msgspec.Struct, rename="kebab"):
    subject_credentials: _Credentials


@asynccontextmanager
async def open_store(spec: NebiusSpec, context: OpenContext) -> AsyncGenerator[NebiusClient, None]:
    """A client that is logged in. Raises SyncError."""
    ca = None if spec.ca_provider is None else spec.ca_provider.cert_secret_ref
    tls = Tls(ca=b"" if ca is None else (await read_text(context, ca, "caProvider.certSecretRef")).encode())
    identity = await _identity(spec, context, tls)
    await identity.check()
    address = f"dpl.mysterybox.{spec.api_domain.strip()}"
    async with Channel(address, tls=tls, network=context.network, now=context.now) as channel:
        yield NebiusClient(GrpcApi(channel, identity))


async def _identity(spec: NebiusSpec, context: OpenContext, tls: Tls) -> Identity:
    token = spec.auth.token_secret_ref
    if token is not None and token.name:
        given = await read_text(context, token, "auth.tokenSecretRef")
        return FixedHeaders(bearer(SecretBytes(given.encode())))
    selector = spec.auth.service_account_creds_secret_ref or SecretKeySelector()
    document = await read_text(context, selector, "auth.serviceAccountCredsSecretRef")
    read = await context.compute(lambda work: _read(document, work))
    if read is None:
        raise Malformed(
            f'key "{selector.key}" of Secret "{selector.name}" holds no credentials of a service account',
            hint="store the JSON file just as Nebius gave it",
        )
    address = f"tokens.iam.{spec.api_domain.strip()}"
    return LoggedIn(partial(_log_in, *read, address, tls, context), context)


def _read(document: str, work: Work) -> "tuple[_Credentials, RSAPrivateKey] | None":
    try:
        found = msgspec.json.decode(document, type=_File).subject_credentials
    except (msgspec.MsgspecError, RecursionError):
        return None
    key = jwt.private_key(found.private_key.encode(), work)
    return None if key is None else (found, key)


async def _log_in(
    given: _Credentials, key: "RSAPrivateKey", address: str, tls: Tls, context: OpenContext
) -> ExpiringValue[SecretBytes]:
    """A token for a token that the key has signed, which is good for a minute."""
    issued = int(context.now())
    claims = {"iss": given.sub, "sub": given.sub, "aud": AUDIENCE, "iat": issued, "exp": issued + _MINUTE}
    request = encoded(
        (1, f"{_OAUTH}:grant-type:token-exchange"),
        (2, f"{_OAUTH}:token-type:access_token"),
        (3, jwt.signed(key, claims, kid=given.kid)),
        (4, f"{_OAUTH}:token-type:jwt"),
    )
    refused = None
    async with Channel(address, tls=tls, network=context.network, now=context.now) as channel:
        try:
            answer = await GrpcApi(channel, FixedHeaders({})).call(_EXCHANGE, request)
            return ExpiringValue(SecretBytes(answer.text(1).encode()), issued + answer.integer(4))
        except Denied as error:
            refused = error
    raise Denied(refused.message, hint="was the key or its service account deleted, and is the clock right?")
