"""User name and password of an LDAP directory, which Vault asks."""

from syncret.providers.contract import OpenContext
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultLdap


async def run(method: VaultLdap, context: OpenContext, adapter: Adapter) -> Reply:
    password = await text(context, method.secret_ref, "auth.ldap.secretRef")
    return await calls.ldap(adapter, method.path, method.username.strip(), password)
