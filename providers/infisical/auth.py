"""The logins of machine identities: each sends a proof, and gets an access token that ends."""

from collections.abc import Mapping
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.infisical.receivers import receivers
from syncret.providers.infisical.spec import (
    AwsAuth,
    AzureAuth,
    GcpIamAuth,
    GcpIdTokenAuth,
    InfisicalSpec,
    JwtAuth,
    KubernetesAuth,
    LdapAuth,
    Method,
    OciAuth,
    TokenAuth,
    UniversalAuth,
)
from syncret.providers.kit.auth.jwt import expiry
from syncret.providers.kit.auth.logins import ExpiringValue, bearer
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_text, read_trimmed
from syncret.providers.kit.rest.identities import FixedHeaders, Identity, LoggedIn
from syncret.providers.kit.rest.logins import log_in_with
from syncret.providers.values import SecretBytes

_NAMES: Final[Mapping[type[Method], str]] = {
    UniversalAuth: "universal-auth",
    JwtAuth: "jwt-auth",
    KubernetesAuth: "kubernetes-auth",
    LdapAuth: "ldap-auth",
    AwsAuth: "aws-auth",
    AzureAuth: "azure-auth",
    GcpIdTokenAuth: "gcp-auth",
    GcpIamAuth: "gcp-auth",
    OciAuth: "oci-auth",
}
"""What the API calls a method."""

_HINTS: Final[Mapping[type[Method], str]] = {
    UniversalAuth: "check universalAuthCredentials: is the client secret still valid?",
    JwtAuth: "check jwtAuthCredentials: does the identity trust the token's issuer, audience and subject?",
    KubernetesAuth: "check kubernetesAuthCredentials: does the identity allow this ServiceAccount?",
    LdapAuth: "check ldapAuthCredentials: do user and password fit?",
    AwsAuth: "check awsAuthCredentials: does the identity allow the daemon's role? Is the clock right?",
    AzureAuth: "check azureAuthCredentials: does the identity have this tenant and resource, and allow the "
    "daemon's identity at Azure?",
    GcpIdTokenAuth: "check gcpIdTokenAuthCredentials: is the identity for ID tokens, and does it allow the "
    "machine's service account, project and zone?",
    GcpIamAuth: "check gcpIamAuthCredentials: is the identity for keys, and does it allow their account?",
    OciAuth: "check ociAuthCredentials: does the identity have this tenancy and allow the user, and does the "
    "user have this key? Is the clock right?",
}
"""What to check if a login is refused."""

_FORWARDED: Final = (AwsAuth, OciAuth)
"""Methods whose proof the server forwards to a cloud; it answers 500 where the cloud refuses it."""


class _Token(msgspec.Struct, rename="camel"):
    access_token: str


async def identity_of(spec: InfisicalSpec, http: Http, context: OpenContext) -> Identity:
    """The identity that the spec names; the first one of several, as in the operator. Raises SyncError."""
    method = spec.auth.chosen()
    if method is None:
        raise Malformed(
            "authentication method not found",
            hint="auth names no login: write universalAuthCredentials into it",
        )
    if isinstance(method, TokenAuth):
        path = "auth.tokenAuthCredentials.accessToken"
        token = await read_trimmed(context, method.access_token, path)
        return FixedHeaders(bearer(SecretBytes(token.encode())))
    name, hint = _NAMES[type(method)], _HINTS[type(method)]

    async def log_in() -> ExpiringValue[SecretBytes]:
        body = dict(await _proof(spec, method, context))
        if spec.secrets_scope.organization_slug:
            body["organizationSlug"] = spec.secrets_scope.organization_slug
        url = f"{http.base}/v1/auth/{name}/login"
        doing = f"logging in to Infisical by {name}"
        try:
            answer = await log_in_with(http, url, json_body(body), doing=doing, hint=hint)
        except Unavailable as error:
            if isinstance(method, _FORWARDED) and "HTTP 500" in error.message:
                error.hint = hint
            raise
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


async def _proof(spec: InfisicalSpec, method: Method, context: OpenContext) -> Mapping[str, Json]:
    """What a login sends: Secrets and files are read again for each one."""
    match method:
        case UniversalAuth():
            path = "auth.universalAuthCredentials"
            client = await read_trimmed(context, method.client_id, f"{path}.clientId")
            secret = await read_trimmed(context, method.client_secret, f"{path}.clientSecret")
            return {"clientId": client, "clientSecret": secret}
        case JwtAuth():
            path = "auth.jwtAuthCredentials"
            identity = await read_trimmed(context, method.identity_id, f"{path}.identityId")
            return {"identityId": identity, "jwt": await read_trimmed(context, method.jwt, f"{path}.jwt")}
        case LdapAuth():
            path = "auth.ldapAuthCredentials"
            identity = await read_trimmed(context, method.identity_id, f"{path}.identityId")
            user = await read_trimmed(context, method.ldap_username, f"{path}.ldapUsername")
            password = await read_text(context, method.ldap_password, f"{path}.ldapPassword")
            return {"identityId": identity, "username": user, "password": password}
        case KubernetesAuth():
            path = "auth.kubernetesAuthCredentials"
            identity = await read_trimmed(context, method.identity_id, f"{path}.identityId")
            return {"identityId": identity, "jwt": await _account_token(spec, method, context)}
        case AwsAuth() | AzureAuth() | GcpIamAuth() | GcpIdTokenAuth() | OciAuth():
            from syncret.providers.infisical import clouds  # needs a parser of XML, among others

            return await clouds.proof(spec, method, context)
        case TokenAuth():
            raise RuntimeError("a static token needs no login")


async def _account_token(spec: InfisicalSpec, method: KubernetesAuth, context: OpenContext) -> str:
    """The token in the file that a Secret names, or that of the daemon's own ServiceAccount."""
    selector = method.service_account_token_path
    if selector is None:
        token = await context.ambient(receivers(spec)).account_token()
    else:
        path = "auth.kubernetesAuthCredentials.serviceAccountTokenPath"
        file = await read_trimmed(context, selector, path)
        token = context.read_file(file, what="ServiceAccount token")
    return token.raw.decode("ascii", "replace")
