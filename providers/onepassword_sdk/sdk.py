"""1Password's SDK, an extra of the wheel: its calls, and its errors as ours.

The SDK is the vendor's own client: a native library that encrypts and decrypts, and sends its requests by
itself. Of its errors most are texts; a message of ours has what a text means, and never the text itself.
"""

from collections.abc import Awaitable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeVar

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable

if TYPE_CHECKING:  # an extra
    from onepassword import Client

T = TypeVar("T")

TOKEN: Final = "check auth.serviceAccountSecretRef: is it the whole token, and is the service account active?"
_GRANT: Final = "give the service account access to the vault; its rights cannot be changed: make another one"
_SERVER: Final = "is there a proxy between here and 1Password?"


class Gone(Malformed):
    """The item, field or environment does not exist, or not any more."""


_MEANINGS: Final[tuple[tuple[str, type[SyncError], str, str], ...]] = (
    ("invalid service account token", Denied, "the token is none of a service account", TOKEN),
    ("right permissions", Denied, "permission denied", _GRANT),
    ("bad credentials", Denied, "1Password refuses the service account", TOKEN),
    ("not authenticated", Denied, "1Password refuses the service account", TOKEN),
    ("bad service account token", Denied, "1Password refuses the service account", TOKEN),
    ("couldn't be found", Gone, "1Password does not have it", "check the key"),
    ("does not correspond to", Gone, "1Password has no such environment", "check environment"),
    ("was not found", Gone, "1Password does not have it", "check the key"),
    ("resource not found", Gone, "1Password does not have it", "check the key"),
    ("data conflict", Unavailable, "another program changed the vault meanwhile", ""),
    ("conflict occurred", Unavailable, "another program changed the vault meanwhile", ""),
    ("error sending request", Unavailable, "1Password cannot be reached", ""),
    ("request timeout", Unavailable, "1Password does not answer", ""),
    ("internal server error", Unavailable, "1Password answers with an error", ""),
    ("unexpected status code", Unavailable, "1Password answers with an error", ""),
    ("when decrypting", Malformed, "the answer is not 1Password's", _SERVER),
    ("deserializing HTTP responses", Malformed, "the answer is not 1Password's", _SERVER),
    ("not in a valid format", Malformed, "the ID is none of 1Password's", "check the key"),
)
"""The meaning of the SDK's error texts, by a part of them. The first match counts."""


def require_library() -> None:
    """Raise Malformed if the SDK is not installed."""
    if find_spec("onepassword") is None:
        raise Malformed(
            "the SDK of 1Password is missing", hint="install syncret with its extra: syncret[onepassword]"
        )


async def connect(token: str, name: str, version: str) -> "Client":
    """A client that has logged in. Raises SyncError."""
    from onepassword import Client  # an extra, and a large import

    return await asked(Client.authenticate(token, name, version), "logging in to 1Password")


def release(client: "Client") -> None:
    """Forget the keys of a client, for which the SDK itself waits until the process ends."""
    client._finalizer()  # noqa: SLF001  # there is no other way that it then counts as done


async def asked(call: Awaitable[T], doing: str) -> T:
    """The result of a call of the SDK. Raises SyncError for all its exceptions."""
    from onepassword import RateLimitExceededException  # see above

    try:
        return await call
    except RateLimitExceededException:
        failed: SyncError = Throttled(f"{doing}: the account has used up its requests")
    except Exception as error:  # noqa: BLE001  # most errors of the SDK have no class of their own
        failed = _meaning(str(error), doing)
    # Raised outside of the handler: the SDK's error must not become the context.
    raise failed


def _meaning(text: str, doing: str) -> SyncError:
    for part, kind, problem, hint in _MEANINGS:
        if part in text:
            return kind(f"{doing}: {problem}", hint=hint)
    return Malformed(f"{doing}: the SDK of 1Password refuses it", hint="are its version and the key right?")
