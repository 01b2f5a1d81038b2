"""User name and password known to Vault itself."""

from syncret.providers.contract import OpenContext
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultUserPass


async def run(method: VaultUserPass, context: OpenContext, adapter: Adapter) -> Reply:
    password = await text(context, method.secret_ref, "auth.userPass.secretRef")
    return await calls.user_pass(adapter, method.path, method.username.strip(), password)
