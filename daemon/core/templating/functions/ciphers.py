"""encryptAES and decryptAES: AES-256-CBC, the password itself is the key, the vector comes first."""

import base64
from typing import Final

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.encoding import BadEncoding, decode_base64
from syncret.daemon.core.templating.values import bytes_of, text_of

_BLOCK: Final = 16
_KEY: Final = 32


def aes_cbc(key: bytes, vector: bytes, data: bytes, *, decrypt: bool = False) -> bytes:
    """Whole blocks, without any padding of their own."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(key), modes.CBC(vector))
    run = cipher.decryptor() if decrypt else cipher.encryptor()
    return run.update(data) + run.finalize()


def padded(data: bytes) -> bytes:
    """PKCS#7: every byte of the padding says how long it is."""
    size = _BLOCK - len(data) % _BLOCK
    return data + bytes([size]) * size


def _key_of(password: str) -> bytes:
    return bytes_of(password)[:_KEY].ljust(_KEY, b"\0")


def encrypt_aes(context: Context, password: str, text: str) -> str:
    if not text:
        return ""
    vector = context.random(_BLOCK)
    return base64.b64encode(vector + aes_cbc(_key_of(password), vector, padded(bytes_of(text)))).decode()


def decrypt_aes(password: str, text: str) -> str:
    if not text:
        return ""
    try:
        data = decode_base64(text)
    except BadEncoding as error:
        raise FunctionError("the text is not base64") from error
    if len(data) <= _BLOCK or len(data) % _BLOCK:
        raise FunctionError("the data is not made of full blocks")
    decrypted = aes_cbc(_key_of(password), data[:_BLOCK], data[_BLOCK:], decrypt=True)
    padding = decrypted[-1]
    if padding > len(decrypted):
        raise FunctionError("the padding is longer than the data: the password is another one")
    return text_of(decrypted[: len(decrypted) - padding])


FUNCTIONS: Final[FunctionTable] = table({"decryptAES": decrypt_aes, "encryptAES": encrypt_aes})
