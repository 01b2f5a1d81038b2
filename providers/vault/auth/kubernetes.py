"""The token of a ServiceAccount: issued for this login, or from a Secret, or the daemon's own."""

from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.kit.credentials import token_file
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultKubernetes

OWN_TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
_SECONDS: Final = 600


async def run(method: VaultKubernetes, context: OpenContext, adapter: Adapter) -> Reply:
    token = await _token(method, context)
    return await calls.kubernetes(adapter, method.mount_path, method.role, token.strip())


async def _token(method: VaultKubernetes, context: OpenContext) -> str:
    account = method.service_account_ref
    if account is not None:
        issued = await context.credentials.account_token(
            account.name, audiences=account.audiences, seconds=_SECONDS, namespace=account.namespace
        )
        return issued.token.raw.decode()
    if method.secret_ref is not None:
        return await text(context, method.secret_ref, "auth.kubernetes.secretRef", key="token")
    return token_file(OWN_TOKEN, what="service account token").raw.decode()
