"""Tokens of a container registry: an Entra token is exchanged for a refresh token or one of a scope."""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec

from syncret.providers.azurekv.acr import AcrAccessTokenSpec, receivers
from syncret.providers.azurekv.auth import read_stripped, workload_fields
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit import environment
from syncret.providers.kit.ambient.azure import log_in_with_managed_identity, pod_login
from syncret.providers.kit.azure.clouds import CLOUDS
from syncret.providers.kit.azure.entra import Application, Login, LoginFields, log_in_with_secret
from syncret.providers.kit.azure.workload import CLIENT_ID, TENANT_ID, workload_login
from syncret.providers.kit.http import Http, form_body
from syncret.providers.values import SecretBytes

T = TypeVar("T")

_REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class _Refresh(msgspec.Struct):
    refresh_token: str


class _Access(msgspec.Struct):
    access_token: str


async def registry_token(spec: AcrAccessTokenSpec, http: Http, context: OpenContext) -> SecretBytes:
    """A refresh token, or with a scope an access token. The base of `http` is the registry."""
    token = await context.log_in(await _choose_login(spec, http, context))
    fields = {"tenant": spec.tenant_id, "access_token": token.value.raw.decode("ascii", "replace")}
    refresh = (await _request_token(http, "exchange", "access_token", spec, fields, _Refresh)).refresh_token
    if not spec.scope:
        return SecretBytes(refresh.encode())
    fields = {"scope": spec.scope, "refresh_token": refresh}
    return SecretBytes(
        (await _request_token(http, "token", "refresh_token", spec, fields, _Access)).access_token.encode()
    )


async def _choose_login(spec: AcrAccessTokenSpec, http: Http, context: OpenContext) -> Login:
    """The first method that the spec names; all get a token for the resource manager."""
    cloud = CLOUDS[spec.environment_type].with_overrides(environment.ADDRESSES)
    if not cloud.management:
        raise Malformed(
            "ACRAccessToken does not know the endpoints of an AzureStackCloud",
            hint="choose the environmentType that the registry is in",
        )
    auth = spec.auth
    if auth.service_principal is not None:
        ref = auth.service_principal.secret_ref
        if ref.client_id is None or ref.client_secret is None or not spec.tenant_id:
            raise Malformed(
                "a service principal needs tenantId, clientId and clientSecret",
                hint="write tenantId, and both selectors into auth.servicePrincipal.secretRef",
            )
        application = Application(
            authority=cloud.authority,
            tenant=spec.tenant_id,
            client_id=await read_stripped(ref.client_id, context.credentials),
            resource=cloud.management,
            fields=LoginFields(
                "auth.servicePrincipal",
                client="auth.servicePrincipal.secretRef.clientId",
                tenant="tenantId",
                proof="auth.servicePrincipal.secretRef.clientSecret",
            ),
        )
        secret = SecretBytes((await read_stripped(ref.client_secret, context.credentials)).encode())
        return partial(log_in_with_secret, http, application, secret, context.now)
    if auth.managed_identity is not None:
        identity = auth.managed_identity.identity_id
        own = context.ambient(receivers(spec))
        return partial(log_in_with_managed_identity, own, cloud.management, identity, context.now)
    if auth.workload_identity is None:
        raise Malformed(
            "unexpected configuration: auth names no way to log in",
            hint="write servicePrincipal, managedIdentity or workloadIdentity",
        )
    account = auth.workload_identity.service_account_ref
    if account is None:
        own = context.ambient(receivers(spec))
        return pod_login(own, cloud.authority, cloud.management, http, context.now)
    annotations = await context.credentials.account_annotations(account.name, account.namespace)
    for name in (CLIENT_ID, TENANT_ID):
        if not annotations.get(name):
            raise Malformed(
                f"service account is missing annotation: {name}",
                hint=f"annotate ServiceAccount {account.name}",
            )
    application = Application(
        authority=cloud.authority,
        tenant=annotations[TENANT_ID],
        client_id=annotations[CLIENT_ID],
        resource=cloud.management,
        fields=workload_fields("auth.workloadIdentity", "auth.workloadIdentity.serviceAccountRef"),
    )
    return workload_login(http, application, account, context)


async def _request_token(
    http: Http,
    path: str,
    grant: str,
    spec: AcrAccessTokenSpec,
    fields: Mapping[str, str],
    model: type[T],
) -> T:
    """The registry's token for a grant."""
    body = form_body({"grant_type": grant, "service": spec.registry, **fields})
    doing = f"asking registry {spec.registry} for a token"
    answer = await http.request("POST", f"/oauth2/{path}", doing=doing, body=body, accept=_REFUSED)
    if answer.status in _REFUSED:
        raise Denied(
            f"{doing}: it refuses (HTTP {answer.status})",
            hint="check registry: grant the identity AcrPull or AcrPush on it; does it belong to tenantId?",
        )
    return answer.decode(model)
