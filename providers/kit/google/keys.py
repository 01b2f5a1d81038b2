"""Logs in as a service account with its key file: a signed assertion is exchanged for an access token."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM
from syncret.providers.kit.google.tokens import Access, Login, request_token
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_TYPE: Final = "service_account"
_HOUR: Final = 3600


class _KeyFile(msgspec.Struct):
    client_email: str
    private_key: str
    type: str = _TYPE
    private_key_id: str = ""
    token_uri: str = "https://oauth2.googleapis.com/token"


class ServiceAccountKey:
    """A key file of a service account. Raises Malformed for other files; `place` says where it was read."""

    def __init__(self, document: SecretBytes, place: str, work: Work) -> None:
        file, key = _read(document, work)
        if file is None or key is None:
            raise Malformed(
                f"{place} holds no key file of a Google service account",
                hint="store the JSON file just as Google gave it",
            )
        self.email = file.client_email
        self.token_uri = file.token_uri
        self._kid = file.private_key_id
        self._key = key

    def signed(self, claims: Mapping[str, Json]) -> str:
        """A JWT with these claims."""
        return jwt.signed(self._key, claims, kid=self._kid)

    def __repr__(self) -> str:
        return f"<ServiceAccountKey {self.email}>"


def key_login(key: ServiceAccountKey, http: Http, now: Callable[[], float]) -> Login:
    """A Login as the service account of the key."""
    return partial(_login, key, http, now)


async def _login(key: ServiceAccountKey, http: Http, now: Callable[[], float]) -> ExpiringValue[Access]:
    moment = int(now())
    claims = {
        "iss": key.email,
        "scope": CLOUD_PLATFORM,
        "aud": key.token_uri,
        "iat": moment,
        "exp": moment + _HOUR,
    }
    fields = {"grant_type": _GRANT, "assertion": key.signed(claims)}
    return await request_token(http, key.token_uri, fields, doing=f"logging in as {key.email}", now=now())


def _read(document: SecretBytes, work: Work) -> "tuple[_KeyFile | None, RSAPrivateKey | None]":
    try:
        file = msgspec.json.decode(document.raw, type=_KeyFile)
        pem = file.private_key.encode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None, None
    return (file, jwt.private_key(pem, work)) if file.type == _TYPE else (None, None)
