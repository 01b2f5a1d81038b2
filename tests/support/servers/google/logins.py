"""Where tokens come from: Google's OAuth endpoint, its STS, and impersonation of service accounts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.jwts import BadToken, private_key, signed, verified
from tests.support.servers.google.aws import caller_of
from tests.support.servers.google.errors import GoogleError, OAuthError
from tests.support.servers.google.identity import CLOUD_PLATFORM, HOUR, IAM, Identity
from tests.support.servers.google.secrets import timestamp

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
JWT_TYPES = {"urn:ietf:params:oauth:token-type:jwt", "urn:ietf:params:oauth:token-type:id_token"}
AWS_TYPE = "urn:ietf:params:aws:token-type:aws4_request"
POOLS = "//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools"


@dataclass
class Issuer:
    """Another party whose tokens are trusted: a cluster, or whoever speaks OIDC."""

    url: str
    audiences: frozenset[str]
    key: str = "issuer"

    def token(self, subject: str, *audiences: str, now: float, seconds: int = 600) -> str:
        """A token that the issuer signs."""
        claims = {"iss": self.url, "sub": subject, "aud": list(audiences), "iat": now, "exp": now + seconds}
        return signed(claims, private_key(self.key), kid=self.key)

    def public_key(self, kid: str) -> rsa.RSAPublicKey | None:
        return private_key(self.key).public_key() if kid == self.key else None


@dataclass
class Logins:
    """The endpoints. `providers` are those of workload identity pools: an Issuer, or AWS accounts' keys."""

    identity: Identity
    providers: dict[str, Issuer | Mapping[str, str]] = field(
        default_factory=dict[str, "Issuer | Mapping[str, str]"]
    )
    """By audience. For AWS: secret keys by access key id."""
    clusters: dict[str, Issuer] = field(default_factory=dict[str, Issuer])
    """By workload identity pool of GKE (`acme.svc.id.goog`)."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/token", self._guarded(self._token)),
            web.post("/v1/token", self._guarded(self._exchange)),
            web.post("/v1/identitybindingtoken", self._guarded(self._bind)),
            web.post("/v1/projects/-/serviceAccounts/{email}:generateAccessToken", self._impersonate),
        ]

    def _guarded(self, grant: Callable[[Mapping[str, str]], dict[str, Any]]) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.Response:
            if request.content_type == "application/json":
                fields = {_snake(key): value for key, value in (await request.json()).items()}
            else:
                fields = {key: str(value) for key, value in (await request.post()).items()}
            try:
                return web.json_response(grant(fields))
            except OAuthError as error:
                return error.response()
            except BadToken as error:
                return OAuthError("invalid_grant", str(error)).response()

        return handle

    # -- OAuth
    def _token(self, fields: Mapping[str, str]) -> dict[str, Any]:
        match fields.get("grant_type"):
            case "refresh_token":
                return self._refresh(fields)
            case kind if kind == JWT_BEARER:
                return self._assertion(fields.get("assertion", ""))
            case _:
                raise OAuthError("unsupported_grant_type", "Invalid grant_type")

    def _assertion(self, assertion: str) -> dict[str, Any]:
        identity = self.identity
        owner, claims = identity.claims(assertion)
        if claims.get("aud") not in {f"{identity.url}/token", "https://oauth2.googleapis.com/token"}:
            raise OAuthError("invalid_grant", "Invalid JWT: the audience is another one.")
        if float(str(claims["exp"])) - float(str(claims["iat"])) > HOUR:
            raise OAuthError("invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes)")
        if "target_audience" in claims:
            told = {"aud": claims["target_audience"], "sub": owner, "email": owner, "iss": identity.url}
            claims = {**told, "iat": identity.now(), "exp": identity.now() + HOUR}
            return {"id_token": signed(claims, private_key("google"), kid="google")}
        scopes = frozenset(str(claims.get("scope", "")).split())
        if not scopes:
            raise OAuthError("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        return self._given(owner, scopes)

    def _refresh(self, fields: Mapping[str, str]) -> dict[str, Any]:
        for user in self.identity.users:
            if fields.get("client_id") != user.client_id:
                continue
            if fields.get("client_secret") != user.client_secret:
                break
            if fields.get("refresh_token") != user.refresh_token:
                raise OAuthError("invalid_grant", "Bad Request")
            return self._given(user.email, frozenset({CLOUD_PLATFORM}))
        raise OAuthError("invalid_client", "The OAuth client was not found.")

    def _given(self, principal: str, scopes: frozenset[str]) -> dict[str, Any]:
        token = self.identity.issue(principal, scopes)
        return {"access_token": token, "expires_in": HOUR - 1, "token_type": "Bearer"}

    # -- exchange
    def _exchange(self, fields: Mapping[str, str]) -> dict[str, Any]:
        audience, subject = fields.get("audience", ""), fields.get("subject_token", "")
        _check_exchange(fields)
        provider = self.providers.get(audience)
        if provider is None:
            raise OAuthError("invalid_request", "Invalid value for audience.")
        kind = fields.get("subject_token_type", "")
        if isinstance(provider, Issuer):
            if kind not in JWT_TYPES:
                raise OAuthError("invalid_request", "Invalid value for subject_token_type.")
            name = str(self._subject(provider, subject, provider.audiences | {f"https:{audience}"})["sub"])
        else:
            if kind != AWS_TYPE:
                raise OAuthError("invalid_request", "Invalid value for subject_token_type.")
            name = caller_of(subject, provider, audience, now=self.identity.now())
        pool = audience.removeprefix("//iam.googleapis.com/").rpartition("/providers/")[0]
        return self._federated(f"principal://iam.googleapis.com/{pool}/subject/{name}", fields)

    def _bind(self, fields: Mapping[str, str]) -> dict[str, Any]:
        _check_exchange(fields)
        namespace, _, rest = fields.get("audience", "").partition(":")
        pool, _, provider = rest.partition(":")
        cluster = self.clusters.get(pool)
        if namespace != "identitynamespace" or cluster is None or cluster.url != provider:
            raise OAuthError("invalid_request", "Invalid value for audience.")
        name = str(self._subject(cluster, fields.get("subject_token", ""), frozenset({pool}))["sub"])
        workload = "/".join(name.split(":")[2:])
        return self._federated(f"serviceAccount:{pool}[{workload}]", fields)

    def _subject(self, issuer: Issuer, token: str, audiences: frozenset[str]) -> dict[str, Any]:
        claims = verified(token, issuer.public_key, now=self.identity.now())
        if claims["iss"] != issuer.url:
            raise OAuthError("invalid_grant", "The issuer in ID Token does not match the expected one.")
        told: Any = claims["aud"]
        if not audiences & {*([told] if isinstance(told, str) else told)}:
            raise OAuthError("invalid_grant", "The audience in ID Token does not match the expected one.")
        return claims

    def _federated(self, principal: str, fields: Mapping[str, str]) -> dict[str, Any]:
        given = self._given(principal, frozenset(fields.get("scope", "").split()))
        return {**given, "issued_token_type": ACCESS_TOKEN}

    # -- impersonation
    async def _impersonate(self, request: web.Request) -> web.Response:
        email = request.match_info["email"]
        who = self.identity.caller(request.headers.get("Authorization", ""), CLOUD_PLATFORM, IAM)
        if who.principal not in self.identity.impersonators.get(email, ()):
            told = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."
            raise GoogleError("PERMISSION_DENIED", told, reason="IAM_PERMISSION_DENIED")
        body = await request.json()
        lifetime = int(str(body.get("lifetime", f"{HOUR}s")).removesuffix("s"))
        if not body.get("scope") or not 0 < lifetime <= HOUR:
            raise GoogleError("INVALID_ARGUMENT", "Invalid scope or lifetime.")
        token = self.identity.issue(email, frozenset(body["scope"]), lifetime)
        expires = timestamp(int(self.identity.now()) + lifetime).replace(".000000Z", "Z")
        return web.json_response({"accessToken": token, "expireTime": expires})


def _check_exchange(fields: Mapping[str, str]) -> None:
    wanted = {"grant_type": EXCHANGE, "requested_token_type": ACCESS_TOKEN}
    for name, value in wanted.items():
        if fields.get(name) != value:
            raise OAuthError("invalid_request", f"Invalid value for {name}.")
    if not fields.get("scope"):
        raise OAuthError("invalid_scope", "A scope is required.")


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
