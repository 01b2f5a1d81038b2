"""The configuration of a device: what Keeper's clients write when a one-time token was redeemed."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec

from syncret.providers.errors import Malformed
from syncret.providers.keepersecurity import cipher
from syncret.providers.keepersecurity.public_keys import FIRST, KEYS

_SERVERS: Final = {
    "US": "keepersecurity.com",
    "EU": "keepersecurity.eu",
    "AU": "keepersecurity.com.au",
    "GOV": "govcloud.keepersecurity.us",
    "JP": "keepersecurity.jp",
    "CA": "keepersecurity.ca",
    "IL5": "il5.keepersecurity.us",
}
_ANEW: Final = "make a new configuration of the kind base64: for a device of the application, in the vault"


class _Written(msgspec.Struct, rename="camel"):
    client_id: str
    private_key: str
    app_key: str = ""
    app_owner_public_key: str = ""
    hostname: str = ""
    server_public_key_id: str = ""
    server_public_key: str = ""


@dataclass(frozen=True, slots=True)
class Device:
    """A device of an application: which server, and who it is there."""

    url: str
    client_id: str
    key: ec.EllipticCurvePrivateKey = field(repr=False)
    app_key: bytes = field(repr=False)
    owner: ec.EllipticCurvePublicKey | None
    """The key of the application's owner, who gets the key of each new record; None in old configurations."""
    server_key_id: str
    server_key: ec.EllipticCurvePublicKey | None
    """The key of a server with its own key; None: those that Keeper publishes."""

    def server_key_of(self, number: str) -> ec.EllipticCurvePublicKey | None:
        """The server's public key with a number; None if it is not known."""
        return self.server_key or cipher.public_key(cipher.decoded(KEYS.get(number, "")))


def read_device(text: str, path: str) -> Device:
    """The device that a configuration is for, as JSON or as that in base64. Raises Malformed."""
    written = _written(text.strip().encode()) or _written(cipher.decoded(text) or b"")
    if written is None:
        raise Malformed(f"{path}: the Secret holds no configuration of a device", hint=_ANEW)
    app_key, key = cipher.decoded(written.app_key), cipher.private_key(cipher.decoded(written.private_key))
    if not app_key:
        raise Malformed(f"{path}: the configuration has no appKey: its token was never redeemed", hint=_ANEW)
    if key is None or len(app_key) != cipher.KEY or not cipher.decoded(written.client_id):
        raise Malformed(f"{path}: privateKey, clientId or appKey of the configuration is damaged", hint=_ANEW)
    own = cipher.public_key(cipher.decoded(written.server_public_key))
    known = own is not None or written.server_public_key_id in KEYS
    return Device(
        url=_url(written.hostname, path),
        client_id=written.client_id,
        key=key,
        app_key=app_key,
        owner=cipher.public_key(cipher.decoded(written.app_owner_public_key)),
        server_key_id=written.server_public_key_id if known else FIRST,
        server_key=own,
    )


def _written(text: bytes) -> _Written | None:
    try:
        return msgspec.json.decode(text, type=_Written)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _url(hostname: str, path: str) -> str:
    """The server's address; always https, with the host and port of what the configuration says."""
    named = _SERVERS.get(hostname or "US", hostname)
    try:
        server = urlsplit(named if "://" in named else f"https://{named}").netloc
    except ValueError:  # an address in brackets that is none
        server = ""
    if not server or "@" in server:
        raise Malformed(f"{path}: the hostname in the configuration is none", hint=_ANEW)
    return f"https://{server}"
