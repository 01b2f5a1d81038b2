"""Infisical's logins with identities at clouds, written from what its server does with the proofs.

It forwards a signed request to AWS or Oracle, and verifies the tokens of Azure and Google itself.
https://github.com/Infisical/infisical, backend/src/services/identity-{aws,azure,gcp,oci}-auth
"""

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.jwts import BadToken, claims_of, private_key, verified
from tests.support.opened import NOW
from tests.support.servers.azure.directory import Directory
from tests.support.servers.sts import Sts

_OK, _BAD, _REFUSED, _FORBIDDEN, _BROKEN = 200, 400, 401, 403, 500
_OCI_HOST: Final = re.compile(r"identity\.([a-z]{2}-[a-z]+-[1-9])\.oraclecloud\.com")
_ACCOUNT: Final = re.compile(r"[a-z0-9-]+@[a-z0-9-]+\.iam\.gserviceaccount\.com")
_CLOCK_SKEW: Final = 300
METHODS: Final = frozenset({"aws-auth", "azure-auth", "gcp-auth", "oci-auth"})


class Clouds:
    """Which identities at clouds one identity of Infisical trusts."""

    def __init__(self) -> None:
        self.identity = "i-1"
        self.methods: frozenset[str] = frozenset()
        """Those that it is set up for."""
        self.sts: Sts | None = None
        """Stands for AWS's token services of all regions."""
        self.arn = ""
        self.directory: Directory | None = None
        self.client = ""
        """The application at Azure."""
        self.resource = "https://management.azure.com/"
        self.google_type = "gce"
        self.email = ""
        """The service account at Google."""
        self.google_keys: dict[str, RSAPublicKey] = {}
        """Of that account, by their IDs."""
        self.oracle_keys: dict[str, RSAPublicKey] = {}
        """By tenancy, user and fingerprint."""
        self.users: dict[str, str] = {}
        """The tenancies of users at Oracle."""
        self.tenancy = ""
        self.bodies: list[Mapping[str, Any]] = []

    async def verdict(self, method: str, body: Mapping[str, Any]) -> int:
        """The status of the answer to a login."""
        self.bodies.append(body)
        if body["identityId"] != self.identity:
            return 404
        match method:
            case "aws-auth":
                return await self._aws(body)
            case "azure-auth":
                return self._azure(body)
            case "gcp-auth":
                return self._google(body)
            case _:
                return self._oracle(body)

    async def _aws(self, body: Mapping[str, Any]) -> int:
        assert self.sts is not None
        headers: dict[str, str] = json.loads(b64decode(body["iamRequestHeaders"]))
        content = b64decode(body["iamRequestBody"])
        given = re.search(r"Credential=[^/ ]+/[0-9]{8}/([a-z0-9-]{1,20})/sts/", headers["Authorization"])
        if given is None:
            return _BAD
        if headers["Host"] != f"sts.{given[1]}.amazonaws.com":  # it asks just this server
            return _BROKEN
        method: str = body["iamHttpRequestMethod"]
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self.sts.url, headers=headers, data=content) as answer,
        ):
            if answer.status != _OK:
                return _BROKEN
            arn = re.search(r"<Arn>(.*)</Arn>", await answer.text())
        return _OK if arn is not None and arn[1] == self.arn else _REFUSED

    def _azure(self, body: Mapping[str, Any]) -> int:
        assert self.directory is not None
        token = self.directory.tokens.get(body["jwt"])
        if token is None or token.expires <= self.directory.now():
            return _FORBIDDEN
        wanted = self.resource if token.audience.endswith("/") else self.resource.removesuffix("/")
        if token.audience != wanted:
            return _FORBIDDEN
        return _OK if token.client == self.client else _REFUSED

    def _google(self, body: Mapping[str, Any]) -> int:
        try:
            if self.google_type == "gce":
                keys = {"google": private_key("google").public_key()}
                claims = verified(body["jwt"], keys.get, now=NOW)
                issuer, audience = claims["iss"], claims["aud"]
                if (issuer, audience) != ("https://accounts.google.com", self.identity):
                    return _REFUSED
                return _OK if claims.get("email") == self.email else _REFUSED
            claims = claims_of(body["jwt"], self.google_keys.get)
        except BadToken:
            return _FORBIDDEN
        if not _ACCOUNT.fullmatch(claims["sub"]) or claims.get("exp", NOW + 1) <= NOW:
            return _FORBIDDEN
        return _OK if (claims["sub"], claims["aud"]) == (self.email, self.identity) else _REFUSED

    def _oracle(self, body: Mapping[str, Any]) -> int:
        wanted = {"authorization", "host", "date"}
        headers: dict[str, str] = {name: body["headers"][name] for name in wanted}
        if not _OCI_HOST.fullmatch(headers["host"]):
            return _BAD
        given = dict(re.findall(r'(\w+)="([^"]*)"', headers["authorization"]))
        key = self.oracle_keys.get(given["keyId"])
        late = abs(parsedate_to_datetime(headers["date"]).timestamp() - NOW) > _CLOCK_SKEW
        names = given["headers"].split()
        if key is None or late or {"date", "(request-target)", "host"} - set(names):
            return _BROKEN
        told = {**headers, "(request-target)": f"get /20160918/users/{body['userOcid']}"}
        text = "\n".join(f"{name}: {told[name]}" for name in names)
        try:
            key.verify(b64decode(given["signature"]), text.encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            return _BROKEN
        return _OK if self.users.get(body["userOcid"]) == self.tenancy else _REFUSED
