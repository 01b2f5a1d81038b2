"""Opens sealed boxes, as GitHub does with its key."""

from hashlib import blake2b

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.poly1305 import Poly1305

from syncret.providers.github.sealed_box import derived, xsalsa20
from syncret.providers.work import Work


def opened(box: bytes, key: X25519PrivateKey) -> bytes:
    """The text; raises InvalidSignature if anything was changed."""
    sender, tag, encrypted = box[:32], box[32:48], box[48:]
    shared = key.exchange(X25519PublicKey.from_public_bytes(sender))
    nonce = blake2b(sender + key.public_key().public_bytes_raw(), digest_size=24).digest()
    stream = xsalsa20(derived(shared, bytes(16)), nonce, 32 + len(encrypted), Work())
    Poly1305.verify_tag(stream[:32], encrypted, tag)
    return bytes(one ^ other for one, other in zip(encrypted, stream[32:], strict=True))
