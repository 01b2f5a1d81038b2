"""Passwords: bcrypt, htpasswd, derivePassword. The slow ones count as keys against the budget."""

import base64
import hashlib
import hmac
from typing import Annotated, Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text import size_of
from syncret.daemon.core.templating.gotypes import Kind, Type
from syncret.daemon.core.templating.values import Uint32, bytes_of

HASH_ALGORITHM: Final = Type("sprig.HashAlgorithm", Kind.STRING)

_ROUNDS: Final = 10
_BCRYPT_LIMIT: Final = 72
_BCRYPT_ALPHABET: Final = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
)

_SEED: Final = b"com.lyndir.masterpassword"
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
    """A hash of cost 10."""
    if size_of(password) > _BCRYPT_LIMIT:
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes"
    context.budget.make_key()
    import bcrypt as library

    salt = base64.b64encode(context.random(16)).rstrip(b"=").translate(_BCRYPT_ALPHABET)
    return library.hashpw(bytes_of(password), b"$2a$%d$%b" % (_ROUNDS, salt)).decode()


def htpasswd(context: Context, user: str, password: str, algorithm: Annotated[str, HASH_ALGORITHM]) -> str:
    """A line of an htpasswd file: SHA-1 where the algorithm is `sha`, bcrypt for any other."""
    if ":" in user:
        return f"invalid username: {user}"
    if algorithm == "sha":
        digest = hashlib.sha1(bytes_of(password), usedforsecurity=False).digest()
        return f"{user}:{{SHA}}{base64.b64encode(digest).decode()}"
    return f"{user}:{bcrypt(context, password)}"


def derive_password(context: Context, counter: Uint32, kind: str, password: str, user: str, site: str) -> str:
    """The password of a site, made of a master password as Master Password makes it."""
    patterns = _PATTERNS.get(kind)
    if patterns is None:
        return f"cannot find password template {kind}"
    context.budget.make_key()
    salt = _SEED + _with_size(user)
    key = hashlib.scrypt(bytes_of(password), salt=salt, n=32768, r=8, p=2, maxmem=_SCRYPT_MEMORY, dklen=64)
    seed = hmac.digest(key, _SEED + _with_size(site) + int(counter).to_bytes(4, "big"), "sha256")
    pattern = patterns[seed[0] % len(patterns)]
    classes = (_CLASSES[name] for name in pattern)
    return "".join(chars[byte % len(chars)] for byte, chars in zip(seed[1:], classes, strict=False))


def _with_size(text: str) -> bytes:
    data = bytes_of(text)
    return len(data).to_bytes(4, "big") + data


FUNCTIONS: Final[FunctionTable] = table(
    {
        "bcrypt": bcrypt,
        "derivePassword": derive_password,
        "htpasswd": htpasswd,
    }
)
