"""Microsoft Entra ID: tenants, their applications, and the tokens it gives out.

Written from https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
"""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509 import Certificate

from tests.support.jwts import BadToken, verified
from tests.support.servers.azure.errors import EntraError
from tests.support.servers.google.logins import Issuer

TENANT = "5f0c2a11-0b6e-4a0e-9d3c-0d6e5c1f7a01"
OTHER_TENANT = "7b1d9e42-3c55-4f0b-8a77-2f4b8d9c6e02"
VAULT = "https://vault.azure.net"
MANAGEMENT = "https://management.azure.com"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
HOUR = 3600


@dataclass
class Token:
    """An access token: whose, of which tenant, for which service, until when."""

    client: str
    tenant: str
    audience: str
    expires: float


@dataclass
class Trust:
    """A federated credential: whose tokens the application may log in with."""

    issuer: Issuer
    subject: str
    audience: str = "api://AzureADTokenExchange"


@dataclass
class Application:
    """Who logs in. A managed identity is one that has neither secret nor certificate."""

    client_id: str
    tenants: frozenset[str] = frozenset({TENANT})
    secrets: set[str] = field(default_factory=set[str])
    expired: set[str] = field(default_factory=set[str])
    certificates: list[Certificate] = field(default_factory=list[Certificate])
    trusts: list[Trust] = field(default_factory=list[Trust])


class Directory:
    """All tenants of one cloud."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.tenants = {TENANT, OTHER_TENANT, "adfs"}
        self.resources = {VAULT, MANAGEMENT}
        self.applications: dict[str, Application] = {}
        self.tokens: dict[str, Token] = {}
        self.logins: list[str] = []
        """The client ID of each token that was given."""
        self.requests: list[dict[str, str]] = []

    def register(self, name: str, *tenants: str, secret: str = "") -> Application:
        """A new application."""
        client = f"00000000-0000-4000-8000-{name.encode().hex():0>12.12}"
        made = Application(client, frozenset(tenants or {TENANT, "adfs"}))
        if secret:
            made.secrets.add(secret)
        self.applications[client] = made
        return made

    def issue(self, client: str, tenant: str, resource: str, seconds: int = HOUR) -> str:
        text = f"eyJ0.{secrets.token_urlsafe(24)}.sig"
        self.tokens[text] = Token(client, tenant, resource, self.now() + seconds)
        self.logins.append(client)
        return text

    def expire_tokens(self) -> None:
        """Every access token ends now."""
        for token in self.tokens.values():
            token.expires = self.now()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/{tenant}/v2.0/.well-known/openid-configuration", self._discover),
            web.post("/{tenant}/oauth2/v2.0/token", self._token),
            web.post("/adfs/oauth2/token", self._token),
        ]

    async def _discover(self, request: web.Request) -> web.Response:
        """What clients ask before their first login."""
        tenant = request.match_info["tenant"]
        if tenant not in self.tenants:
            return EntraError("invalid_tenant", 90002, f"Tenant '{tenant}' not found.").response()
        base = f"{request.scheme}://{request.host}/{tenant}"
        return web.json_response(
            {
                "token_endpoint": f"{base}/oauth2/v2.0/token",
                "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
                "device_authorization_endpoint": f"{base}/oauth2/v2.0/devicecode",
                "issuer": f"{base}/v2.0",
            }
        )

    async def _token(self, request: web.Request) -> web.Response:
        fields = {name: str(value) for name, value in (await request.post()).items()}
        self.requests.append(fields)
        tenant = request.match_info.get("tenant", "adfs")
        url = f"{request.scheme}://{request.host}{request.path}"
        try:
            return web.json_response(self._grant(tenant, url, fields))
        except EntraError as error:
            return error.response()

    def _grant(self, tenant: str, url: str, fields: Mapping[str, str]) -> dict[str, Any]:
        if tenant not in self.tenants:
            raise EntraError("invalid_request", 90002, f"Tenant '{tenant}' not found.")
        if fields.get("grant_type") != "client_credentials":
            raise EntraError("unsupported_grant_type", 70003, "The app requested an unsupported grant type.")
        client = fields.get("client_id", "")
        application = self.applications.get(client)
        if application is None or tenant not in application.tenants:
            told = f"Application with identifier '{client}' was not found in the directory."
            raise EntraError("unauthorized_client", 700016, told)
        if "client_secret" in fields:
            _check_secret(application, fields["client_secret"])
        elif fields.get("client_assertion_type") == ASSERTION:
            self._check_assertion(application, fields.get("client_assertion", ""), url)
        else:
            raise EntraError("invalid_client", 7000218, "The request body must contain a client secret.")
        resource, _, rest = fields.get("scope", "").rpartition("/")
        if rest != ".default":
            raise EntraError("invalid_scope", 1002012, "The provided value for scope is not valid.")
        if resource not in self.resources:
            raise EntraError("invalid_resource", 500011, f"The resource principal {resource} was not found.")
        token = self.issue(client, tenant, resource)
        return {
            "token_type": "Bearer",
            "expires_in": HOUR - 1,
            "ext_expires_in": HOUR - 1,
            "access_token": token,
        }

    def _check_assertion(self, application: Application, assertion: str, url: str) -> None:
        """Signed with one of the application's certificates, or by an issuer that it trusts."""
        certificates: list[Certificate] = []
        trusts: list[Trust] = []

        def key_of(name: str) -> rsa.RSAPublicKey | None:
            certificates.extend(
                each for each in application.certificates if name.rstrip("=") in thumbprints(each)
            )
            trusts.extend(each for each in application.trusts if each.issuer.public_key(name))
            keys = [each.public_key() for each in certificates]
            keys += [key for each in trusts if (key := each.issuer.public_key(name))]
            return keys[0] if keys and isinstance(keys[0], rsa.RSAPublicKey) else None

        try:
            claims = verified(assertion, key_of, now=self.now())
        except BadToken as error:
            raise _unsigned(str(error)) from None
        if certificates:
            told = (claims.get("iss"), claims.get("sub"), claims.get("aud"))
            if told != (application.client_id, application.client_id, url):
                raise EntraError("invalid_client", 700023, "Client assertion audience claim does not match.")
            return
        for trust in trusts:
            audiences: list[str] = [claims["aud"]] if isinstance(claims["aud"], str) else claims["aud"]
            if (claims["iss"], claims["sub"]) == (trust.issuer.url, trust.subject) and (
                trust.audience in audiences
            ):
                return
        raise EntraError("invalid_client", 70021, "No matching federated identity record found.")


def thumbprints(certificate: Certificate) -> set[str]:
    """What a token's header may call a certificate."""
    forms = (hashes.SHA1(), hashes.SHA256())  # noqa: S303  # the names that Entra knows it by
    return {urlsafe_b64encode(certificate.fingerprint(form)).decode().rstrip("=") for form in forms}


def _check_secret(application: Application, secret: str) -> None:
    if secret in application.expired:
        raise EntraError("invalid_client", 7000222, "The provided client secret keys are expired.")
    if secret not in application.secrets:
        raise EntraError("invalid_client", 7000215, "Invalid client secret provided.")


def _unsigned(why: str) -> EntraError:
    if why == "it does not hold now":
        return EntraError("invalid_client", 700024, "Client assertion is not within its valid time range.")
    return EntraError("invalid_client", 700027, "Client assertion failed signature validation.")
