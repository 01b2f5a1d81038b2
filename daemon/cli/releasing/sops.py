"""SOPS's format with keys of age: values of a document in AES-256-GCM, and a digest over all of them.

Only values are encrypted, each bound to the keys above it; the digest (`mac`) binds them together, in their
order, and with the values that stay plain.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from hmac import compare_digest
from secrets import token_bytes
from typing import TYPE_CHECKING, Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.daemon.cli.releasing import age

if TYPE_CHECKING:
    from syncret.daemon.cli.releasing.age import Identity, Recipient

MEMBER: Final = "sops"
ENCRYPTED: Final = "^(data|stringData)$"
"""The members whose values are encrypted: those of a Secret. Flux and kubectl read the rest."""

_VERSION: Final = "3.11.0"
_ENCRYPTED: Final = re.compile(ENCRYPTED)
_VALUE: Final = re.compile(r"ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:([a-z]+)\]")
_KEY: Final = 32
_NONCE: Final = 32
_TAG: Final = 16
_KINDS: Final = (("bool", bool), ("int", int), ("float", float))
_SHORTEST_NONCE, _LONGEST_NONCE = 8, 128
_START_OF_ENCRYPTED: Final = hashlib.sha256(MEMBER.encode()).digest()
"""What a digest over encrypted values alone begins with."""


class SopsError(Exception):
    """A document cannot be decrypted, or was changed; the message has no value of it."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def is_encrypted(document: Document | None) -> bool:
    """Whether it is in SOPS's format."""
    metadata: Json = None if document is None else document.get(MEMBER)
    return is_object(metadata) and "mac" in metadata


def encrypt(document: Document, recipients: "Mapping[str, Recipient]", now: datetime) -> Document:
    """The document with the values of `data` encrypted for each of the recipients."""
    key, moment = token_bytes(_KEY), now.strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = hashlib.sha512()

    def sealed(value: Json, path: tuple[str, ...]) -> Json:
        digest.update(_bytes(value))
        return _sealed(value, key, path) if any(map(_ENCRYPTED.search, path)) else value

    made: Document = _walked(document, (), sealed)
    mac = digest.hexdigest().upper()
    made[MEMBER] = {
        "age": [
            {"recipient": text, "enc": age.encrypted(key, recipient)}
            for text, recipient in recipients.items()
        ],
        "lastmodified": moment,
        "mac": _seal(mac.encode(), "str", key, moment),
        "encrypted_regex": ENCRYPTED,
        "version": _VERSION,
    }
    return made


def decrypt(documents: Sequence[Document], identities: "Sequence[Identity]") -> list[Document]:
    """The decrypted documents of one file, if its digest is right. Raises SopsError."""
    metadata: Document = documents[0][MEMBER]
    key = _data_key(metadata, identities)
    partly = metadata.get("mac_only_encrypted") is True
    digest = hashlib.sha512(_START_OF_ENCRYPTED if partly else b"")

    def opened(value: Json, path: tuple[str, ...]) -> Json:
        if not isinstance(value, str) or not value.startswith("ENC["):
            if not partly:
                digest.update(_bytes(value))
            return value
        plain, kind = _open(value, key, "".join(f"{step}:" for step in path))
        if kind != "comment":
            digest.update(plain)
        return _typed(plain, kind)

    made = [
        _walked({name: value for name, value in document.items() if name != MEMBER}, (), opened)
        for document in documents
    ]
    mac, _ = _open(metadata["mac"], key, str(metadata.get("lastmodified")))
    if not compare_digest(mac, digest.hexdigest().upper().encode()):
        hint = "it was changed without the key: restore it, or encrypt it anew with sops"
        raise SopsError("is not what was encrypted: its MAC is wrong", hint)
    return made


def _data_key(metadata: Document, identities: "Sequence[Identity]") -> bytes:
    if metadata.get("key_groups") or metadata.get("shamir_threshold"):
        raise SopsError("has key groups, which are not supported", "encrypt it with one group of age keys")
    for entry in _entries(metadata.get("age")):
        key = age.decrypted(entry, identities)
        if key is not None and len(key) == _KEY:
            return key
    if not any(_entries(metadata.get("age"))):
        raise SopsError("is not encrypted for a key of age", "add a recipient of age with sops updatekeys")
    raise SopsError("is encrypted for other keys of age", "give the identity of one of its recipients")


def _entries(written: Json) -> Iterator[str]:
    for entry in written if is_list(written) else ():
        if is_object(entry) and isinstance(entry.get("enc"), str):
            yield entry["enc"]


def _walked(value: Json, path: tuple[str, ...], leaf: Callable[[Json, tuple[str, ...]], Json]) -> Json:
    """The value with every leaf replaced, in its order; the items of a list have the path of the list."""
    if is_object(value):
        return {name: _walked(member, (*path, name), leaf) for name, member in value.items()}
    if is_list(value):
        return [_walked(item, path, leaf) for item in value]
    return None if value is None else leaf(value, path)


def _bytes(value: Json) -> bytes:
    """A leaf as it is digested and encrypted."""
    if isinstance(value, bool):
        return b"True" if value else b"False"
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f").removesuffix(".0").encode()
    return str(value).encode("utf-8", "surrogateescape")


def _typed(plain: bytes, kind: str) -> Json:
    text = plain.decode("utf-8", "surrogateescape")
    if kind == "bool":
        return text.lower() == "true"
    try:
        if kind == "int":
            return int(text)
        return float(text) if kind == "float" else text
    except ValueError:
        raise _malformed() from None


def _sealed(value: Json, key: bytes, path: tuple[str, ...]) -> str:
    kind = next((name for name, of in _KINDS if isinstance(value, of)), "str")
    return _seal(_bytes(value), kind, key, "".join(f"{step}:" for step in path)) if value != "" else ""


def _seal(plain: bytes, kind: str, key: bytes, bound_to: str) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = token_bytes(_NONCE)
    sealed = AESGCM(key).encrypt(nonce, plain, bound_to.encode())
    data, iv, tag = (base64.b64encode(each).decode() for each in (sealed[:-_TAG], nonce, sealed[-_TAG:]))
    return f"ENC[AES256_GCM,data:{data},iv:{iv},tag:{tag},type:{kind}]"


def _open(text: Json, key: bytes, bound_to: str) -> tuple[bytes, str]:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    found = _VALUE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _malformed()
    try:
        data, nonce, tag = (base64.b64decode(part, validate=True) for part in found.groups()[:3])
        if not _SHORTEST_NONCE <= len(nonce) <= _LONGEST_NONCE:
            raise _malformed()
        return AESGCM(key).decrypt(nonce, data + tag, bound_to.encode()), found[4]
    except (ValueError, InvalidTag):
        hint = "restore it, or encrypt it anew with sops"
        raise SopsError("has an encrypted value that was changed, or moved to another key", hint) from None


def _malformed() -> SopsError:
    return SopsError("has an encrypted value that cannot be read", "restore it, or encrypt it anew with sops")
