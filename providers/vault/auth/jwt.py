"""A JWT that an issuer signed whom Vault trusts: from a Secret, or issued for a ServiceAccount.

Vault's method `oidc` takes the same request; so does `azure` for a token of a managed identity or a workload.
"""

from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultJwt

_AUDIENCES: Final = ("vault",)
_SECONDS: Final = 600


async def run(method: VaultJwt, context: OpenContext, adapter: Adapter) -> Reply:
    token = await _token(method, context)
    return await calls.jwt(adapter, method.path, method.role.strip(), token.strip())


async def _token(method: VaultJwt, context: OpenContext) -> str:
    if method.secret_ref is not None:
        return await text(context, method.secret_ref, "auth.jwt.secretRef")
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
