"""AppRole: the role's ID and a secret ID."""

from syncret.providers.contract import OpenContext
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultAppRole


async def run(method: VaultAppRole, context: OpenContext, adapter: Adapter) -> Reply:
    role = method.role_id.strip() or await text(context, method.role_ref, "auth.appRole.roleRef")
    secret = await text(context, method.secret_ref, "auth.appRole.secretRef")
    return await calls.app_role(adapter, method.path, role, secret)
