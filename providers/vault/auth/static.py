"""Logins with static credentials: AppRole, LDAP, userpass, a token from a Secret, a TLS client certificate.

A token from a Secret is not renewed. The client certificate is read when the connection is opened (`pair`).
"""

from syncret.config.fields import SecretKeySelector
from syncret.providers.contract import OpenContext
from syncret.providers.kit.references import read_text
from syncret.providers.kit.vault import requests
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.spec import UserPass
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.values import SecretBytes
from syncret.providers.vault.auth_spec import VaultAppRole, VaultCert, VaultLdap


async def app_role(method: VaultAppRole, context: OpenContext, adapter: Adapter) -> Reply:
    role = method.role_id.strip() or await read_text(context, method.role_ref, "auth.appRole.roleRef")
    secret = await read_text(context, method.secret_ref, "auth.appRole.secretRef")
    return await requests.app_role(adapter, method.path, role, secret)


async def ldap(method: VaultLdap, context: OpenContext, adapter: Adapter) -> Reply:
    password = await read_text(context, method.secret_ref, "auth.ldap.secretRef")
    return await requests.password(adapter, method.path, method.username.strip(), password)


async def token(selector: SecretKeySelector, context: OpenContext, _adapter: Adapter) -> SecretBytes:
    return await context.credentials.secret_key(selector.name, selector.key, selector.namespace)


async def user_pass(method: UserPass, context: OpenContext, adapter: Adapter) -> Reply:
    password = await read_text(context, method.secret_ref, "auth.userPass.secretRef")
    return await requests.password(adapter, method.path, method.username.strip(), password)


async def cert(method: VaultCert, _context: OpenContext, adapter: Adapter) -> Reply:
    return await requests.cert(adapter, method.path, method.vault_role)


async def pair(method: VaultCert, context: OpenContext) -> tuple[bytes, bytes]:
    """The certificate and its key, in PEM."""
    key = await read_text(context, method.secret_ref, "auth.cert.secretRef", key="tls.key")
    certificate = await read_text(context, method.client_cert, "auth.cert.clientCert", key="tls.crt")
    return certificate.encode(), key.encode()
