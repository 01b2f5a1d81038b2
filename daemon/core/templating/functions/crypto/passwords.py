"""Passwords, ciphers, digests: bcrypt, htpasswd, derivePassword, encryptAES, decryptAES, sha256sum ...

Slow password functions are charged as keys.
"""

import base64
import hashlib
import hmac
import zlib
from typing import Annotated, Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.encoding import BadEncoding, decode_base64
from syncret.daemon.core.templating.functions.text.layout import size_of
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.types import Kind, Type
from syncret.daemon.core.templating.golang.values import Uint32, bytes_of, text_of

HASH_ALGORITHM: Final = Type("sprig.HashAlgorithm", Kind.STRING)
_BCRYPT_COST: Final = 10
_BCRYPT_LIMIT: Final = 72
_BCRYPT_ALPHABET: Final = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
)
_AES_BLOCK: Final = 16
_AES_KEY: Final = 32
_SCOPE: Final = b"com.lyndir.masterpassword"
_SCRYPT_MEMORY: Final = 1 << 27
_PATTERNS: Final = {
    "maximum": ("anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"),
    "long": (
        *("CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv", "CvccCvcvnoCvcv"),
        *("CvccCvcvCvcvno", "CvcvnoCvccCvcv", "CvcvCvccnoCvcv", "CvcvCvccCvcvno", "CvcvnoCvcvCvcc"),
        *("CvcvCvcvnoCvcc", "CvcvCvcvCvccno", "CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno"),
        *("CvcvnoCvccCvcc", "CvcvCvccnoCvcc", "CvcvCvccCvccno", "CvccnoCvcvCvcc", "CvccCvcvnoCvcc"),
        "CvccCvcvCvccno",
    ),
    "medium": ("CvcnoCvc", "CvcCvcno"),
    "short": ("Cvcn",),
    "basic": ("aaanaaan", "aannaaan", "aaannaaa"),
    "pin": ("nnnn",),
}
_CLASSES: Final = {
    "V": "AEIOU",
    "C": "BCDFGHJKLMNPQRSTVWXYZ",
    "v": "aeiou",
    "c": "bcdfghjklmnpqrstvwxyz",
    "A": "AEIOUBCDFGHJKLMNPQRSTVWXYZ",
    "a": "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
    "n": "0123456789",
    "o": "@&%?,=[]_:-+*$#!'^~;()/.",
    "x": "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
}


def bcrypt(context: Context, password: str) -> str:
    """A bcrypt hash of cost 10."""
    if size_of(password) > _BCRYPT_LIMIT:
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes"
    context.budget.make_key()
    import bcrypt as library

    salt = base64.b64encode(context.random(16)).rstrip(b"=").translate(_BCRYPT_ALPHABET)
    return library.hashpw(bytes_of(password), b"$2a$%d$%b" % (_BCRYPT_COST, salt)).decode()


def htpasswd(context: Context, user: str, password: str, algorithm: Annotated[str, HASH_ALGORITHM]) -> str:
    """A line of an htpasswd file, with SHA-1 for the algorithm `sha`, and bcrypt for any other."""
    if ":" in user:
        return f"invalid username: {user}"
    if algorithm == "sha":
        digest = hashlib.sha1(bytes_of(password), usedforsecurity=False).digest()
        return f"{user}:{{SHA}}{base64.b64encode(digest).decode()}"
    return f"{user}:{bcrypt(context, password)}"


def derive_password(context: Context, counter: Uint32, kind: str, password: str, user: str, site: str) -> str:
    """The password of a site, derived from a master password by the Master Password algorithm."""
    patterns = _PATTERNS.get(kind)
    if patterns is None:
        return f"cannot find password template {kind}"
    context.budget.make_key()
    salt = _SCOPE + _with_size(user)
    key = hashlib.scrypt(bytes_of(password), salt=salt, n=32768, r=8, p=2, maxmem=_SCRYPT_MEMORY, dklen=64)
    seed = hmac.digest(key, _SCOPE + _with_size(site) + int(counter).to_bytes(4, "big"), "sha256")
    pattern = patterns[seed[0] % len(patterns)]
    classes = (_CLASSES[name] for name in pattern)
    return "".join(chars[byte % len(chars)] for byte, chars in zip(seed[1:], classes, strict=False))


def _with_size(text: str) -> bytes:
    data = bytes_of(text)
    return len(data).to_bytes(4, "big") + data


def encrypt_aes(context: Context, password: str, text: str) -> str:
    """AES-256-CBC in base64: the initialization vector, then the text. The password itself is the key."""
    if not text:
        return ""
    vector = context.random(_AES_BLOCK)
    return base64.b64encode(vector + aes_cbc(_aes_key(password), vector, padded(bytes_of(text)))).decode()


def decrypt_aes(password: str, text: str) -> str:
    if not text:
        return ""
    try:
        data = decode_base64(text)
    except BadEncoding as error:
        raise FunctionError("the text is not base64") from error
    if len(data) <= _AES_BLOCK or len(data) % _AES_BLOCK:
        raise FunctionError("the data is not made of full blocks")
    decrypted = aes_cbc(_aes_key(password), data[:_AES_BLOCK], data[_AES_BLOCK:], decrypt=True)
    padding = decrypted[-1]
    if padding > len(decrypted):
        raise FunctionError("the padding is longer than the data: the password is another one")
    return text_of(decrypted[: len(decrypted) - padding])


def _aes_key(password: str) -> bytes:
    return bytes_of(password)[:_AES_KEY].ljust(_AES_KEY, b"\0")


def aes_cbc(key: bytes, vector: bytes, data: bytes, *, decrypt: bool = False) -> bytes:
    """Encrypt or decrypt whole blocks by AES-CBC; padding is up to the caller."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(key), modes.CBC(vector))
    run = cipher.decryptor() if decrypt else cipher.encryptor()
    return run.update(data) + run.finalize()


def padded(data: bytes) -> bytes:
    """The data with PKCS#7 padding, each byte of which is its length."""
    size = _AES_BLOCK - len(data) % _AES_BLOCK
    return data + bytes([size]) * size


def sha1sum(text: str) -> str:
    return hashlib.sha1(bytes_of(text), usedforsecurity=False).hexdigest()


def sha256sum(text: str) -> str:
    return hashlib.sha256(bytes_of(text)).hexdigest()


def sha512sum(text: str) -> str:
    return hashlib.sha512(bytes_of(text)).hexdigest()


def adler32sum(text: str) -> str:
    return str(zlib.adler32(bytes_of(text)))


FUNCTIONS: Final[FunctionTable] = table(
    {
        "adler32sum": adler32sum,
        "bcrypt": bcrypt,
        "decryptAES": decrypt_aes,
        "derivePassword": derive_password,
        "encryptAES": encrypt_aes,
        "htpasswd": htpasswd,
        "sha1sum": sha1sum,
        "sha256sum": sha256sum,
        "sha512sum": sha512sum,
    }
)
