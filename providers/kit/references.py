"""Reads what selectors of a spec refer to: texts in Secrets, and CA bundles; checks that bytes are text."""

from base64 import b64decode
from typing import Final, Protocol

from syncret.config.fields import CAProvider, SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed


async def read_text(
    context: OpenContext, selector: SecretKeySelector | None, path: str, *, key: str = ""
) -> str:
    """The text of the Secret key that a selector names; `key` is the default key, `path` the field path."""
    if selector is None:
        raise Malformed(f"{path} is missing", hint="name the Secret and the key that hold the value")
    found = await context.credentials.secret_key(selector.name, selector.key or key, selector.namespace)
    try:
        return found.raw.decode()
    except UnicodeDecodeError:
        pass
    raise Malformed(f'{path}: Secret "{selector.name}" holds no text', hint="it must be UTF-8")


async def read_trimmed(
    context: OpenContext, selector: SecretKeySelector | None, path: str, *, key: str = ""
) -> str:
    """The same without surrounding white space, such as the newline at the end of a file."""
    return (await read_text(context, selector, path, key=key)).strip()


class Given(Protocol):
    """A credential that a spec has itself, or names a Secret for."""

    @property
    def value(self) -> str | None: ...
    @property
    def secret_ref(self) -> SecretKeySelector | None: ...


async def read_given(context: OpenContext, given: Given, path: str) -> str:
    """The credential, without surrounding white space."""
    return (given.value or await read_text(context, given.secret_ref, f"{path}.secretRef")).strip()


def as_text(raw: bytes, remedy: str) -> str:
    """A value to push as text, for managers that store only text. Raises Malformed."""
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
    """The CAs as PEM; empty: the system's trust store. The bundle wins over the provider."""
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
    """The decoded bundle. As in the operator, PEM that was base64-encoded twice is accepted."""
    try:
        once = b64decode(bundle, validate=True)
        return once if _PEM in once else b64decode(b"".join(once.split()), validate=True)
    except ValueError:
        pass
    raise Malformed(
        "failed to decode ca bundle", hint="caBundle is the PEM text in base64, without line breaks"
    )
