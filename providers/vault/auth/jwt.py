"""Login with a JWT (methods `jwt` and `kubernetes`): issued for a ServiceAccount, from a Secret, or our own.

Vault's method `oidc` takes the same request; so does `azure` for a token of a managed identity or a workload.
"""

from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.references import read_text
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultJwt, VaultKubernetes
from syncret.providers.vault.receivers import receivers
from syncret.providers.vault.spec import VaultSpec

_AUDIENCES: Final = ("vault",)
_SECONDS: Final = 600


async def service_account(
    spec: VaultSpec, method: VaultKubernetes, context: OpenContext, adapter: Adapter
) -> Reply:
    token = await _account_token(spec, method, context)
    return await requests.kubernetes(adapter, method.mount_path, method.role, token.strip())


async def _account_token(spec: VaultSpec, method: VaultKubernetes, context: OpenContext) -> str:
    account = method.service_account_ref
    if account is not None:
        issued = await context.credentials.account_token(
            account.name,
            audiences=account.audiences,
            seconds=_SECONDS,
            namespace=account.namespace,
        )
        return issued.token.raw.decode()
    if method.secret_ref is not None:
        return await read_text(context, method.secret_ref, "auth.kubernetes.secretRef", key="token")
    return (await context.ambient(receivers(spec)).account_token()).raw.decode()


async def jwt(method: VaultJwt, context: OpenContext, adapter: Adapter) -> Reply:
    token = await _token(method, context)
    return await requests.jwt(adapter, method.path, method.role.strip(), token.strip())


async def _token(method: VaultJwt, context: OpenContext) -> str:
    if method.secret_ref is not None:
        return await read_text(context, method.secret_ref, "auth.jwt.secretRef")
    wanted = method.kubernetes_service_account_token
    if wanted is None:
        raise Malformed(
            "neither `secretRef` nor `kubernetesServiceAccountToken` was supplied"
            " as token source for jwt authentication",
            hint="name the Secret that holds the token, or the ServiceAccount it is issued for",
        )
    account = wanted.service_account_ref
    audiences = _AUDIENCES if wanted.audiences is None else wanted.audiences
    issued = await context.credentials.account_token(
        account.name,
        audiences=(*account.audiences, *audiences),
        seconds=wanted.expiration_seconds or _SECONDS,
        namespace=account.namespace,
    )
    return issued.token.raw.decode()
