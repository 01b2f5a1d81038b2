"""Bytes that must be text: what a store takes from Secrets, and what a manager holds as text only."""

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed


async def text(context: OpenContext, selector: SecretKeySelector | None, path: str, *, key: str = "") -> str:
    """The text that the selector at a field path leads to; `key` is the usual one, where it names none."""
    if selector is None:
        raise Malformed(f"{path} is missing", hint="name the Secret and the key that hold the value")
    found = await context.credentials.secret_key(selector.name, selector.key or key, selector.namespace)
    try:
        return found.raw.decode()
    except UnicodeDecodeError:
        pass
    raise Malformed(f'{path}: Secret "{selector.name}" holds no text', hint="it must be UTF-8")


def pushed(raw: bytes, remedy: str) -> str:
    """A value on its way to a manager that holds only text there. Raises Malformed."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    raise Malformed(
        "the value is binary (not UTF-8), and the secret manager holds only text here", hint=remedy
    )
