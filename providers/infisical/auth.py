"""The logins of machine identities: each sends a proof, and gets an access token that ends."""

from typing import Final, NamedTuple

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.infisical.receivers import receivers
from syncret.providers.infisical.spec import InfisicalSpec
from syncret.providers.kit.auth.jwt import expiry
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_text, read_trimmed
from syncret.providers.kit.rest.identities import FixedHeaders, Identity, LoggedIn
from syncret.providers.kit.rest.logins import log_in_with
from syncret.providers.values import SecretBytes

_HINTS: Final = {
    "universal-auth": "check universalAuthCredentials: is the client secret still valid?",
    "jwt-auth": "check jwtAuthCredentials: does the identity trust the token's issuer, audience and subject?",
    "kubernetes-auth": "check kubernetesAuthCredentials: does the identity allow this ServiceAccount?",
    "ldap-auth": "check ldapAuthCredentials: do user and password fit?",
}


class _Token(msgspec.Struct, rename="camel"):
    access_token: str


class Login(NamedTuple):
    """A method as the API calls it, and what is sent."""

    method: str
    body: dict[str, str]


async def identity_of(spec: InfisicalSpec, http: Http, context: OpenContext) -> Identity:
    """The identity that the spec names; the first one of several, as in the operator. Raises SyncError."""
    path, static = "auth.tokenAuthCredentials.accessToken", spec.auth.token_auth_credentials
    if await _login(spec, context) is None and static is not None:
        token = await read_trimmed(context, static.access_token, path)
        return FixedHeaders(bearer(SecretBytes(token.encode())))

    async def log_in() -> ExpiringValue[SecretBytes]:
        login = await _login(spec, context)
        if login is None:
            raise Malformed(
                "authentication method not found",
                hint="of Infisical's, universal, token, JWT, Kubernetes and LDAP credentials are supported",
            )
        doing = f"logging in to Infisical by {login.method}"
        body = dict(login.body)
        if spec.secrets_scope.organization_slug:
            body["organizationSlug"] = spec.secrets_scope.organization_slug
        url = f"{http.base}/v1/auth/{login.method}/login"
        answer = await log_in_with(http, url, json_body(body), doing=doing, hint=_HINTS[login.method])
        token = answer.decode(_Token).access_token
        return ExpiringValue(SecretBytes(token.encode()), _end_of(token))

    async def sign_out(token: SecretBytes) -> None:
        body = json_body({"accessToken": token.raw.decode()})
        url = f"{http.base}/v1/auth/token/revoke"
        await http.request("POST", url, doing="logging out of Infisical", body=body)

    return LoggedIn(log_in, context, sign_out=sign_out)


def _end_of(token: str) -> float | None:
    """When a token ends, as it says itself: `expiresIn` beside it is a setting, and may be 0.

    None: it has no end, as older servers issue them, and is renewed when it is refused.
    """
    try:
        return float(expiry(token))
    except Malformed:
        return None


async def _login(spec: InfisicalSpec, context: OpenContext) -> Login | None:
    """The request of a login: Secrets and files are read again for each one."""
    auth = spec.auth
    if (universal := auth.universal_auth_credentials) is not None:
        path = "auth.universalAuthCredentials"
        client = await read_trimmed(context, universal.client_id, f"{path}.clientId")
        secret = await read_trimmed(context, universal.client_secret, f"{path}.clientSecret")
        return Login("universal-auth", {"clientId": client, "clientSecret": secret})
    if (jwt := auth.jwt_auth_credentials) is not None:
        path = "auth.jwtAuthCredentials"
        identity = await read_trimmed(context, jwt.identity_id, f"{path}.identityId")
        token = await read_trimmed(context, jwt.jwt, f"{path}.jwt")
        return Login("jwt-auth", {"identityId": identity, "jwt": token})
    if (ldap := auth.ldap_auth_credentials) is not None:
        path = "auth.ldapAuthCredentials"
        identity = await read_trimmed(context, ldap.identity_id, f"{path}.identityId")
        user = await read_trimmed(context, ldap.ldap_username, f"{path}.ldapUsername")
        password = await read_text(context, ldap.ldap_password, f"{path}.ldapPassword")
        return Login("ldap-auth", {"identityId": identity, "username": user, "password": password})
    if (kubernetes := auth.kubernetes_auth_credentials) is not None:
        path = "auth.kubernetesAuthCredentials"
        identity = await read_trimmed(context, kubernetes.identity_id, f"{path}.identityId")
        return Login("kubernetes-auth", {"identityId": identity, "jwt": await _account_token(spec, context)})
    return None


async def _account_token(spec: InfisicalSpec, context: OpenContext) -> str:
    """The token in the file that a Secret names, or that of the daemon's own ServiceAccount."""
    login = spec.auth.kubernetes_auth_credentials
    selector = None if login is None else login.service_account_token_path
    if selector is None:
        token = await context.ambient(receivers(spec)).account_token()
    else:
        path = "auth.kubernetesAuthCredentials.serviceAccountTokenPath"
        file = await read_trimmed(context, selector, path)
        token = context.read_file(file, what="ServiceAccount token")
    return token.raw.decode("ascii", "replace")
