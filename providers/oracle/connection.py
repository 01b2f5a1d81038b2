"""Opens a store: the key that requests are signed with."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import Answer, Http
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals, bad_signature
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity
from syncret.providers.oracle.client import OracleClient
from syncret.providers.oracle.signing import SignedRequests
from syncret.providers.oracle.spec import OracleSpec


class _Failure(msgspec.Struct):
    code: str
    message: str


def _is_absent(answer: Answer) -> bool:
    failure = answer.decode_if(_Failure)
    return failure is not None and failure.code == "NotAuthorizedOrNotFound"


_REFUSALS: Final = Refusals(
    vendor="Oracle",
    check="check region",
    is_absent=_is_absent,
    errors={401: bad_signature("auth.tenancy, auth.user and auth.secretRef")},
)


@asynccontextmanager
async def open_store(spec: OracleSpec, context: OpenContext) -> AsyncGenerator[OracleClient, None]:
    """A client that signs as the store's user. Raises SyncError."""
    auth = spec.auth
    if auth is None or spec.principal_type not in {"", "UserPrincipal"}:
        raise Malformed(
            "only users can log in to Oracle's vaults: instances and workloads are not supported",
            hint="write auth, and principalType: UserPrincipal",
        )
    path, selector = "auth.secretRef", auth.secret_ref.privatekey
    pem = (await read_text(context, selector, f"{path}.privatekey")).encode()
    fingerprint = await read_text(context, auth.secret_ref.fingerprint, f"{path}.fingerprint")
    key = await context.compute(lambda work: jwt.private_key(pem, work))
    if key is None:
        raise Malformed(
            f'key "{selector.key}" of Secret "{selector.name}" holds no RSA key',
            hint="store the PEM file of the user's API key, without a password",
        )
    end = f"{spec.region}.oci.oraclecloud.com"
    given = ADDRESSES.get("OCI_VAULTS_ENDPOINT")
    url = given or f"https://secrets.vaults.{end}"

    async def identify(_http: Http) -> Identity:
        return SignedRequests(f"{auth.tenancy}/{auth.user}/{fingerprint.strip()}", key, url, context.now)

    async with connected(url, context, identify, _REFUSALS) as api:
        yield OracleClient(spec, api, context.compute, vaults=given or f"https://vaults.{end}")
