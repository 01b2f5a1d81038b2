"""Whom a store trusts: a CA bundle in the spec itself, or in a Secret or ConfigMap."""

from base64 import b64decode
from typing import Final

from syncret.config.fields import CAProvider
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed

_USUAL_KEY: Final = "ca.crt"
_PEM: Final = b"-----BEGIN"


async def authorities(bundle: str | None, provider: CAProvider | None, context: OpenContext) -> bytes:
    """PEM; empty where the system's own trust counts. The bundle goes before the provider."""
    if bundle:
        return _decoded(bundle)
    if provider is None:
        return b""
    if context.scope.cluster and provider.namespace is None:
        raise Malformed("missing namespace on caProvider secret", hint="write caProvider.namespace")
    key = provider.key or _USUAL_KEY
    if provider.type == "ConfigMap":
        return (await context.credentials.config_map_key(provider.name, key, provider.namespace)).encode()
    return (await context.credentials.secret_key(provider.name, key, provider.namespace)).raw


def _decoded(bundle: str) -> bytes:
    """The field is base64; people encode the PEM twice often enough that the operator accepts it."""
    try:
        once = b64decode(bundle, validate=True)
        return once if _PEM in once else b64decode(b"".join(once.split()), validate=True)
    except ValueError:
        pass
    raise Malformed(
        "failed to decode ca bundle", hint="caBundle is the PEM text in base64, without line breaks"
    )
