"""Oracle's logins of machines and of workloads, written from the vendor's SDK for Go (`common/auth`)."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiohttp import web
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_public_key
from cryptography.x509.oid import NameOID

from tests.support.jwts import pem, private_key, signed
from tests.support.servers.rest import body_of

TENANCY: Final = "ocid1.tenancy.oc1..aaaa"
_SIGNED: Final = ["date", "(request-target)", "content-length", "content-type", "x-content-sha256"]


def _certificate() -> bytes:
    """That of the one machine, in PEM."""
    key, name = private_key("oracle machine"), f"opc-tenant:{TENANCY}"
    subject = x509.Name([x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).serial_number(1)
    builder = builder.public_key(key.public_key()).not_valid_before(now - timedelta(days=1))
    return builder.not_valid_after(now + timedelta(days=1)).sign(key, SHA256()).public_bytes(Encoding.PEM)


class Principals:
    """One machine, with its metadata server, and one ServiceAccount of an OKE cluster."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.account = "jwt-of-app"
        """The token of the ServiceAccount."""
        self.sessions: dict[str, RSAPublicKey] = {}
        """The keys of sessions, by token."""
        self.begun = 0

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/v1/x509", self._log_in_machine),
            web.post("/resourcePrincipalSessionTokens", self._log_in_workload),
            web.get("/opc/v2/instance/regionInfo", self._region),
            web.get("/opc/v2/identity/{name}", self._identity),
        ]

    def _begin(self, public: bytes) -> str:
        """A session for a key; its token."""
        key = load_pem_public_key(public)
        assert isinstance(key, RSAPublicKey)
        self.begun += 1
        claims = {"exp": int(self._now()) + 1200, "jti": str(self.begun)}
        token = signed(claims, private_key("oracle"), kid="asw")
        self.sessions[f"ST${token}"] = key
        return token

    async def _log_in_machine(self, request: web.Request) -> web.Response:
        given = dict(re.findall(r'(\w+)="([^"]*)"', request.headers["Authorization"]))
        assert given["headers"].split(" ") == _SIGNED
        target = {**request.headers, "(request-target)": "post /v1/x509"}
        named = {name.lower(): value for name, value in target.items()}
        body: dict[str, Any] = await body_of(request)
        for each in body["intermediateCertificates"]:
            x509.load_der_x509_certificate(b64decode(each))
        leaf = x509.load_der_x509_certificate(b64decode(body["certificate"]))
        public, digest = leaf.public_key(), leaf.fingerprint(SHA256()).hex(":")
        assert isinstance(public, RSAPublicKey)
        assert body["fingerprintAlgorithm"] == "SHA256"
        text = "\n".join(f"{name}: {named[name]}" for name in _SIGNED)
        try:
            public.verify(b64decode(given["signature"]), text.encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            return web.json_response({"code": "NotAuthenticated", "message": ""}, status=401)
        if given["keyId"] != f"{TENANCY}/fed-x509-sha256/{digest}":
            return web.json_response({"code": "NotAuthenticated", "message": ""}, status=401)
        key = f"-----BEGIN PUBLIC KEY-----\n{body['publicKey']}\n-----END PUBLIC KEY-----\n"
        return web.json_response({"token": self._begin(key.encode())})

    async def _log_in_workload(self, request: web.Request) -> web.Response:
        if request.headers["Authorization"] != f"Bearer {self.account}":
            return web.json_response({"code": "Forbidden"}, status=403)
        body: dict[str, Any] = await body_of(request)
        text = json.dumps({"token": f"ST${self._begin(body['podKey'].encode())}"})
        return web.json_response(b64encode(text.encode()).decode())

    async def _region(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer Oracle"
        region = {"regionIdentifier": "eu-frankfurt-1", "realmDomainComponent": "oraclecloud.com"}
        return web.json_response({"realmKey": "oc1", "regionKey": "FRA", **region})

    async def _identity(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer Oracle"
        key = pem(private_key("oracle machine")).encode()
        return web.Response(body=key if request.match_info["name"] == "key.pem" else _certificate())
