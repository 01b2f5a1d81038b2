"""Keys of age: recipients to encrypt to, and identities to decrypt with."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

from syncret.providers.values import SecretBytes

if TYPE_CHECKING:
    from pyrage import ssh, x25519

    Identity: TypeAlias = x25519.Identity | ssh.Identity
    Recipient: TypeAlias = x25519.Recipient | ssh.Recipient

_IDENTITY: Final = "AGE-SECRET-KEY-1"
_SSH: Final = "-----BEGIN"


class AgeError(Exception):
    """A key cannot be used, or nothing can be decrypted with those given; the message quotes none of them."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def recipients(texts: Sequence[str]) -> "dict[str, Recipient]":
    """The recipients by their texts: `age1...`, or the public key of SSH. Raises AgeError."""
    _require_library()
    import pyrage

    found: dict[str, Recipient] = {}
    for text in texts:
        kind = pyrage.ssh.Recipient if text.startswith("ssh-") else pyrage.x25519.Recipient
        try:
            found[text] = kind.from_str(text)
        except pyrage.RecipientError:
            hint = "write age1..., or a public key of SSH (ssh-ed25519 ...)"
            raise AgeError("a recipient of --encrypt-to is none of age", hint) from None
    return found


def identities(text: SecretBytes) -> "list[Identity]":
    """The identities of a key file: a line each, or a private key of SSH. Raises AgeError."""
    _require_library()
    import pyrage

    lines = [line.strip() for line in text.raw.decode("utf-8", "replace").splitlines()]
    written = [line for line in lines if line and not line.startswith("#")]
    try:
        if written and written[0].startswith(_SSH):
            return [pyrage.ssh.Identity.from_buffer(text.raw)]
        found: list[Identity] = [pyrage.x25519.Identity.from_str(line) for line in written]
    except pyrage.IdentityError:
        hint = f"it has a line {_IDENTITY}..., or is a private key of SSH without a passphrase"
        raise AgeError("an identity of age cannot be read", hint) from None
    return found


def encrypted(plain: bytes, recipient: "Recipient") -> str:
    """The text for one recipient, armored."""
    _require_library()
    import pyrage

    return pyrage.encrypt(plain, [recipient], armored=True).decode()


def decrypted(text: str, keys: "Sequence[Identity]") -> bytes | None:
    """The bytes; None if none of the identities fits, or the text is none of age."""
    _require_library()
    import pyrage

    try:
        return pyrage.decrypt(text.encode(), keys)
    except pyrage.DecryptError:
        return None


def _require_library() -> None:
    if find_spec("pyrage") is None:
        raise AgeError("the library for age is missing", "install syncret with its extra: syncret[age]")
