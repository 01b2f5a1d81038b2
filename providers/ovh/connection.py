"""Opens a store: a token, or a client certificate."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls, segments
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders
from syncret.providers.ovh.client import OvhClient
from syncret.providers.ovh.spec import OvhMTLS, OvhSpec
from syncret.providers.values import SecretBytes

_ABSENT: Final = {17125377, 17125378}
"""The Secret Manager's codes for a secret, and a version, that does not exist."""


class _Failure(msgspec.Struct):
    error_code: int


_REFUSALS: Final = Refusals(
    vendor="OVHcloud",
    check="check server and okmsid: is the domain in this region?",
    is_absent=says(_Failure, lambda failure: failure.error_code in _ABSENT),
)


@asynccontextmanager
async def open_store(spec: OvhSpec, context: OpenContext) -> AsyncGenerator[OvhClient, None]:
    """A client with the store's token or certificate. Raises SyncError."""
    token = ""
    if spec.auth.token is not None:
        token = await read_text(context, spec.auth.token.token_secret_ref, "auth.token.tokenSecretRef")
    tls = Tls() if spec.auth.mtls is None else await _certificate(spec.auth.mtls, context)

    url = f"{spec.server.rstrip('/')}/api/{segments(spec.okmsid)}"
    identity = FixedHeaders(bearer(SecretBytes(token.encode())) if token else {})
    async with connected(url, context, identity, _REFUSALS, tls=tls) as api:
        yield OvhClient(api, context.compute, checks_version=bool(spec.cas_required))


async def _certificate(mtls: OvhMTLS, context: OpenContext) -> Tls:
    certificate = await read_text(context, mtls.cert_secret_ref, "auth.mtls.certSecretRef")
    key = await read_text(context, mtls.key_secret_ref, "auth.mtls.keySecretRef")
    ca = await ca_bundle(mtls.ca_bundle, mtls.ca_provider, context)
    return Tls(ca=ca, certificate=certificate.encode(), key=key.encode())
