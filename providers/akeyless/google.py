"""The proof of the daemon's identity at Google: an identity token of its machine's service account."""

from typing import Final

from syncret.providers.akeyless.receivers import server
from syncret.providers.akeyless.spec import AkeylessSpec
from syncret.providers.contract import OpenContext
from syncret.providers.kit.ambient.google_metadata import identity_token
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.google.endpoints import Endpoints

_AUDIENCE: Final = "akeyless.io"
_PROOF: Final = "an identity token of the daemon's machine at Google"
_HINT: Final = (
    "give the machine (or in GKE the pod) a service account, or choose another type in "
    "authSecretRef.secretRef.accessType"
)


async def cloud_id(spec: AkeylessSpec, audience: str, context: OpenContext) -> bytes:
    """An identity token for the audience; empty: Akeyless'. Raises SyncError."""
    own = context.ambient([server(spec, _PROOF)])
    endpoints = Endpoints.of(ADDRESSES)
    token = await identity_token(own, endpoints, audience or _AUDIENCE, hint=_HINT, now=context.now)
    return token.encode()
