"""A TLS client certificate. The connection carries it, so it is read where the connection is set up."""

from syncret.providers.contract import OpenContext
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth_spec import VaultCert


async def run(method: VaultCert, adapter: Adapter) -> Reply:
    return await calls.cert(adapter, method.path, method.vault_role)


async def pair(method: VaultCert, context: OpenContext) -> tuple[bytes, bytes]:
    """The certificate and its key, in PEM."""
    key = await text(context, method.secret_ref, "auth.cert.secretRef", key="tls.key")
    certificate = await text(context, method.client_cert, "auth.cert.clientCert", key="tls.crt")
    return certificate.encode(), key.encode()
