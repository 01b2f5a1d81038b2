"""Tokens and the logins that give them: what is known of a token, and what a login's answer makes of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from syncret.config.fields import Json
from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.vault.replies import Reply, number
from syncret.providers.kit.vault.wire import Adapter


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    """A token and what is to be done with it."""

    value: str = field(repr=False)
    lifetime: float = 0.0
    """Seconds at its first; 0: it does not end, or somebody else minds it."""
    expires: float | None = None
    renewable: bool = False
    ours: bool = False
    """Whether we logged in for it, and so may revoke it."""


@dataclass(frozen=True, slots=True)
class Login:
    """One way to log in. `run` gives the login's reply, or a token that somebody else made."""

    method: str
    run: Callable[[Adapter], Awaitable[Reply | SecretBytes]]
    remedy: str
    """What to look at when Vault refuses it."""

    @property
    def doing(self) -> str:
        return f"logging in to Vault by {self.method}"


def made(auth: Mapping[str, Json], now: float, lifetime: float = 0.0) -> Token:
    """The token of an answer's `auth`; `lifetime` is that of the token which it renews."""
    value = auth.get("client_token")
    seconds = number(auth.get("lease_duration"))
    return Token(
        value if isinstance(value, str) else "",
        lifetime=lifetime or seconds,
        expires=now + seconds if seconds else None,
        renewable=auth.get("renewable") is True,
        ours=auth.get("token_type") != "batch",
    )


def header(token: SecretBytes, doing: str) -> str:
    """A token as a header can hold it: as it stands in the Secret, but for a line break at its end."""
    text = token.raw.decode("ascii", "replace").strip()
    if text and text.isprintable() and text.isascii():
        return text
    raise Malformed(f"{doing}: the Secret's value is no token", hint="it must be one line of plain text")


def without_token(doing: str, *, needs_more: bool) -> SyncError:
    """Why a login that was answered is none."""
    if needs_more:
        return Denied(f"{doing}: Vault wants a second factor", hint="use a login that needs none")
    return Malformed(
        f"{doing}: the answer holds no token", hint="does the mount path lead to a login method?"
    )
