"""Keeper Secrets Manager as far as it concerns records, written after what Keeper's clients send and expect.

https://docs.keeper.io/en/keeperpam/secrets-manager, https://github.com/Keeper-Security/secrets-manager
"""

import os
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import msgspec
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.padding import PKCS7
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from tests.support.servers.rest import Refused, RestServer

FOLDER: Final = "c2hhcmVkLWZvbGRlci0wMA"
INNER: Final = "aW5uZXItZm9sZGVyLTAwMA"
VERSIONS: Final = ("mp", "mg")
"""What the versions of Keeper's clients for Python and Go begin with."""

_POINT: Final = 65


def uid_of(name: str) -> str:
    """The UID of the record that a test calls so."""
    return urlsafe_b64encode(name.encode().rjust(16, b"r")[-16:]).decode().rstrip("=")


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def plain(text: str) -> bytes:
    """The bytes of base64 in either alphabet."""
    return urlsafe_b64decode(text.replace("+", "-").replace("/", "_").rstrip("=") + "==")


def seal(data: bytes, key: bytes) -> bytes:
    nonce = os.urandom(12)
    return nonce + AESGCM(key).encrypt(nonce, data, None)


def unseal(data: bytes, key: bytes) -> bytes:
    return AESGCM(key).decrypt(data[:12], data[12:], None)


def seal_in_folder(data: bytes, key: bytes) -> bytes:
    """As keys and names of folders within others are encrypted."""
    start, padding = os.urandom(16), PKCS7(128).padder()
    cipher = Cipher(algorithms.AES(key), modes.CBC(start)).encryptor()
    return start + cipher.update(padding.update(data) + padding.finalize()) + cipher.finalize()


def unseal_with(private: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    """What was encrypted for a private key."""
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data[:_POINT])
    return unseal(data[_POINT:], sha256(private.exchange(ec.ECDH(), point)).digest())


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class Device:
    """A device of the application, with its private key, which the server does not have in truth."""

    def __init__(self, number: int) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = base64(sha256(b"device %d" % number).digest())


@dataclass
class Stored:
    """A record as the server has it: it can read none of it."""

    data: str
    key: str
    """Encrypted with that of the folder or, for a record that is shared by itself, of the application."""
    in_folder: bool
    inner: str = ""
    revision: int = 1
    is_editable: bool = True
    files: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


class Keeper(RestServer):
    """One application with one device, a shared folder, and a folder within that."""

    def __init__(self) -> None:
        super().__init__()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.key_id = "10"
        self.owner = ec.generate_private_key(ec.SECP256R1())
        self.app_key, self.folder_key, self.inner_key = os.urandom(32), os.urandom(32), os.urandom(32)
        self.device = Device(1)
        self.records: dict[str, Stored] = {}
        self.contents: dict[str, bytes] = {}

    @property
    def public_key(self) -> str:
        """What requests are encrypted for."""
        return urlsafe_b64encode(point_of(self.key)).decode().rstrip("=")

    # -- what the owner does in the vault
    def configuration(self, **changes: str) -> bytes:
        """What Keeper's clients write for the device, in base64."""
        private = self.device.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        written = {
            "hostname": self.url.removeprefix("https://"),
            "clientId": self.device.id,
            "privateKey": base64(private),
            "appKey": base64(self.app_key),
            "appOwnerPublicKey": base64(point_of(self.owner)),
            "serverPublicKeyId": "10",
            "serverPublicKey": self.public_key,
            **changes,
        }
        return b64encode(msgspec.json.encode({name: text for name, text in written.items() if text}))

    def add(self, uid: str, data: Mapping[str, Any], *, in_folder: bool = True) -> None:
        """A new record, in the folder or shared by itself."""
        key, around = os.urandom(32), self.folder_key if in_folder else self.app_key
        text = base64(seal(msgspec.json.encode(data), key))
        self.records[uid] = Stored(text, base64(seal(key, around)), in_folder)

    def attach(self, uid: str, title: str, content: bytes) -> None:
        """Add a file to a record."""
        key, name = os.urandom(32), f"/files/{len(self.contents)}"
        self.contents[name] = seal(content, key)
        about = msgspec.json.encode({"title": title, "name": title, "size": len(content)})
        self.records[uid].files.append(
            {
                "fileUid": uid_of(title),
                "fileKey": base64(seal(key, self._key_of(self.records[uid]))),
                "data": base64(seal(about, key)),
                "url": f"{self.url}{name}",
            }
        )

    def data(self, uid: str) -> dict[str, Any]:
        """What a record holds."""
        stored = self.records[uid]
        return msgspec.json.decode(unseal(plain(stored.data), self._key_of(stored)), type=dict[str, Any])

    def titled(self, title: str) -> list[dict[str, Any]]:
        """What the records with a title hold."""
        return [data for data in map(self.data, self.records) if data.get("title") == title]

    def _key_of(self, stored: Stored) -> bytes:
        return unseal(plain(stored.key), self.folder_key if stored.in_folder else self.app_key)

    # -- the API
    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.post("/api/rest/sm/v1/{call}", self._call), web.get("/files/{name}", self._file)]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, {"error": "access_denied", "message": message, "path": "https://keeper"})

    def throttled(self, _request: web.Request) -> web.StreamResponse:
        return Refused(403, {"error": "throttled", "message": "slow down", "retry_after": 7}).response()

    def token_of(self, request: web.Request) -> str:
        raise AssertionError(f"{request.path} carries a signature, and no token")

    @property
    def writes(self) -> int:
        return sum(call.endswith(("create_secret", "update_secret", "delete_secret")) for call in self.calls)

    async def _call(self, request: web.Request) -> web.Response:
        if request.headers["PublicKeyId"] != self.key_id:
            raise Refused(401, {"error": "key", "message": "invalid key id", "key_id": int(self.key_id)})
        sealed_key, content = b64decode(request.headers["TransmissionKey"]), await request.read()
        key = unseal_with(self.key, sealed_key)
        asked = msgspec.json.decode(unseal(content, key))
        self._check(asked, sealed_key + content, request.headers["Authorization"])
        self.calls.append(f"POST {request.path}")
        calls = {
            "get_secret": self._read,
            "get_folders": self._folders,
            "create_secret": self._create,
            "update_secret": self._update,
            "delete_secret": self._delete,
        }
        answered = calls[request.match_info["call"]](asked)
        return web.Response(body=b"" if answered is None else seal(msgspec.json.encode(answered), key))

    def _check(self, asked: Mapping[str, Any], signed: bytes, authorization: str) -> None:
        if not asked["clientVersion"].startswith(VERSIONS):
            raise Refused(400, {"error": "invalid_client_version", "additional_info": "unknown"})
        try:
            proof = b64decode(authorization.removeprefix("Signature "))
            self.device.key.public_key().verify(proof, signed, ec.ECDSA(SHA256()))
        except InvalidSignature:
            raise self.refusal(403, "Signature is invalid") from None
        if asked["clientId"] != self.device.id:
            raise self.refusal(403, "Unable to validate application access")

    def _read(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        wanted = asked.get("requestedRecords") or self.records
        shown = {uid: self._shown(uid, each) for uid, each in self.records.items() if uid in wanted}
        inside = [each for uid, each in shown.items() if self.records[uid].in_folder]
        alone = [each for uid, each in shown.items() if not self.records[uid].in_folder]
        sealed = base64(seal(self.folder_key, self.app_key))
        folders = [{"folderUid": FOLDER, "folderKey": sealed, "records": inside}]
        return {"records": alone, "folders": folders, "warnings": None}

    def _shown(self, uid: str, stored: Stored) -> dict[str, Any]:
        return {
            "recordUid": uid,
            "recordKey": stored.key,
            "data": stored.data,
            "revision": stored.revision,
            "isEditable": stored.is_editable,
            "innerFolderUid": stored.inner or None,
            "files": stored.files or None,
        }

    def _folders(self, _asked: Mapping[str, Any]) -> dict[str, Any]:
        name = msgspec.json.encode({"name": "shop"})
        shared = {
            "folderUid": FOLDER,
            "folderKey": base64(seal(self.folder_key, self.app_key)),
            "data": base64(seal_in_folder(name, self.folder_key)),
            "parent": None,
        }
        within = {
            "folderUid": INNER,
            "folderKey": base64(seal_in_folder(self.inner_key, self.folder_key)),
            "data": base64(seal_in_folder(name, self.inner_key)),
            "parent": FOLDER,
        }
        return {"folders": [shared, within]}

    def _create(self, asked: Mapping[str, Any]) -> None:
        if asked["folderUid"] != FOLDER or asked["recordUid"] in self.records:
            raise Refused(400, {"error": "bad_request", "message": "invalid folder or record"})
        key = unseal_with(self.owner, plain(asked["recordKey"]))
        assert unseal(plain(asked["folderKey"]), self.folder_key) == key
        inner = asked.get("subFolderUid", "")
        self.records[asked["recordUid"]] = Stored(
            asked["data"], asked["folderKey"], in_folder=True, inner=inner
        )

    def _update(self, asked: Mapping[str, Any]) -> None:
        stored = self.records[asked["recordUid"]]
        if not stored.is_editable or stored.revision != asked["revision"]:
            raise Refused(403, {"error": "out_of_sync", "message": "the revision is another"})
        stored.data, stored.revision = asked["data"], stored.revision + 1
        unseal(plain(stored.data), self._key_of(stored))

    def _delete(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        codes = {uid: "ok" if self.records.pop(uid, None) else "bad_request" for uid in asked["recordUids"]}
        return {"records": [{"recordUid": uid, "responseCode": code} for uid, code in codes.items()]}

    async def _file(self, request: web.Request) -> web.Response:
        self.calls.append(f"GET {request.path}")
        return web.Response(body=self.contents[request.path])
