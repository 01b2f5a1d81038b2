"""The OpenPGP key of an account, unlocked. The library, pysequoia, is an extra of the wheel."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from syncret.providers.errors import Malformed
from syncret.providers.work import Work

if TYPE_CHECKING:  # an extra
    from pysequoia import PyDecryptor

_UNLOCKING: Final = 350_000
"""Steps that stand for the tenth of a second which deriving a key from a passphrase takes."""
_DECRYPTING: Final = 5_000


class Key:
    """A private key, and who it is."""

    def __init__(self, fingerprint: str, decryptor: "PyDecryptor") -> None:
        self.fingerprint = fingerprint
        self._decryptor = decryptor

    def __repr__(self) -> str:
        return f"<Key {self.fingerprint}>"

    def decrypted(self, message: str, work: Work) -> bytes | None:
        """The bytes of an armored message; None if it is none, or is encrypted for another key."""
        from pysequoia import decrypt

        work.step(_DECRYPTING)
        work.make(len(message))
        try:
            return decrypt(message.encode(), self._decryptor).bytes
        except RuntimeError:  # of whatever is wrong; its text may quote
            return None


def require_library() -> None:
    """Raise Malformed if the library is not installed."""
    if find_spec("pysequoia") is None:
        raise Malformed(
            "the library for OpenPGP is missing", hint="install syncret with its extra: syncret[passbolt]"
        )


def unlocked(armored: bytes, passphrase: str, work: Work) -> Key | None:
    """The key; None if it cannot be read, or the passphrase is not its."""
    from pysequoia import Tsk

    work.step(_UNLOCKING)
    try:
        key = Tsk.from_bytes(armored)
        return Key(key.extract_certificate().fingerprint, key.decryptor(passphrase))
    except RuntimeError:  # of whatever is wrong
        return None
