"""Whom a store trusts: a CA bundle in the spec itself, or in a Secret or ConfigMap.

Bytes that must be text: what a store takes from Secrets, and what a manager holds as text only.
"""

from base64 import b64decode
from typing import Final

from syncret.config.fields import CAProvider, SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed


async def read_text(
    context: OpenContext, selector: SecretKeySelector | None, path: str, *, key: str = ""
) -> str:
    """The text that the selector at a field path leads to; `key` is the usual one, where it names none."""
    if selector is None:
        raise Malformed(f"{path} is missing", hint="name the Secret and the key that hold the value")
    found = await context.credentials.secret_key(selector.name, selector.key or key, selector.namespace)
    try:
        return found.raw.decode()
    except UnicodeDecodeError:
        pass
    raise Malformed(f'{path}: Secret "{selector.name}" holds no text', hint="it must be UTF-8")


def as_text(raw: bytes, remedy: str) -> str:
    """A value on its way to a manager that holds only text there. Raises Malformed."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    raise Malformed(
        "the value is binary (not UTF-8), and the secret manager holds only text here", hint=remedy
    )


_USUAL_KEY: Final = "ca.crt"
_PEM: Final = b"-----BEGIN"


async def ca_bundle(bundle: str | None, provider: CAProvider | None, context: OpenContext) -> bytes:
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
