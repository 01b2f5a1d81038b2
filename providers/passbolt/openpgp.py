"""OpenPGP keys, unlocked: that of an account, and those of encrypted metadata.

The library, pysequoia, is an extra of the wheel.
"""

from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from syncret.providers.errors import Malformed
from syncret.providers.work import Work

if TYPE_CHECKING:  # an extra
    from pysequoia import PyDecryptor, Tsk

_UNLOCKING: Final = 350_000
"""Steps that stand for the tenth of a second which deriving a key from a passphrase takes."""
_LOADING: Final = 10_000
"""The same without a passphrase."""
_DECRYPTING: Final = 5_000
_DECRYPTING_BY_CURVE: Final = 500
"""An elliptic curve takes a tenth of a millisecond, RSA some milliseconds."""


class Key:
    """A private key, and who it is."""

    def __init__(self, fingerprint: str, decryptor: "PyDecryptor", steps: int) -> None:
        """`steps` are those of one decryption."""
        self.fingerprint = fingerprint
        self._decryptor = decryptor
        self._steps = steps

    def __repr__(self) -> str:
        return f"<Key {self.fingerprint}>"

    def decrypted(self, message: str, work: Work) -> bytes | None:
        """The bytes of an armored message; None if it is none, or is encrypted for another key."""
        from pysequoia import decrypt

        work.step(self._steps)
        work.make(len(message))
        try:
            found = decrypt(message.encode(), self._decryptor).bytes
        except RuntimeError:  # of whatever is wrong; its text may quote
            return None
        work.make(len(found or b""))  # messages may be compressed
        return found


def require_library() -> None:
    """Raise Malformed if the library is not installed."""
    if find_spec("pysequoia") is None:
        raise Malformed(
            "the library for OpenPGP is missing", hint="install syncret with its extra: syncret[passbolt]"
        )


def unlocked(armored: bytes, passphrase: str, work: Work) -> Key | None:
    """The key; None if it cannot be read or has expired, or the passphrase is not its. It may have none."""
    from pysequoia import Tsk, packet  # pyright: ignore[reportMissingModuleSource]  # it is in the binary

    work.step(_UNLOCKING if passphrase else _LOADING)
    try:
        key = Tsk.from_bytes(armored)
        public = key.extract_certificate()
        algorithms = [each.key_algorithm for each in packet.PacketPile.from_bytes(bytes(public))]
        by_curve = packet.PublicKeyAlgorithm.ECDH in algorithms
        steps = _DECRYPTING_BY_CURVE if by_curve else _DECRYPTING
        return Key(public.fingerprint, _decryptor(key, passphrase), steps)
    except RuntimeError:  # of whatever is wrong
        return None


def _decryptor(key: "Tsk", passphrase: str) -> "PyDecryptor":
    """What decrypts with a key; the library refuses a passphrase for a key that has none."""
    if passphrase:
        with suppress(RuntimeError):
            return key.decryptor(passphrase)
    return key.decryptor(None)
