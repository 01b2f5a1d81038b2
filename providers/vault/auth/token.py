"""A token from a Secret. Whoever wrote it renews it and writes the next one."""

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext, SecretBytes
from syncret.providers.kit.vault.wire import Adapter


async def run(selector: SecretKeySelector, context: OpenContext, _adapter: Adapter) -> SecretBytes:
    return await context.credentials.secret_key(selector.name, selector.key, selector.namespace)
