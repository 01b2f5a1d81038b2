"""The login methods of Vault, and the choice of a store's method."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.tokens import Login
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth import jwt, static
from syncret.providers.vault.auth_spec import VaultAuth, VaultGcp, VaultIam
from syncret.providers.vault.spec import VaultSpec

_ROLE: Final = "check the role in auth.{method}, and in Vault which accounts it is bound to"

_NAMED: Final[Mapping[str, tuple[Callable[..., Any], str]]] = {
    "token": (static.token, "check the Secret in auth.tokenSecretRef"),
    "appRole": (static.app_role, "check auth.appRole.roleId, and the SecretID in auth.appRole.secretRef"),
    "ldap": (static.ldap, "check auth.ldap.username, and the password in auth.ldap.secretRef"),
    "userPass": (
        static.user_pass,
        "check auth.userPass.username, and the password in auth.userPass.secretRef",
    ),
    "jwt": (jwt.jwt, _ROLE.format(method="jwt")),
    "cert": (static.cert, "check auth.cert.clientCert, and the role in Vault that trusts it"),
}
"""Methods whose spec names all credentials, and what to check if Vault refuses them."""


async def _iam(spec: VaultSpec, method: VaultIam, context: OpenContext, adapter: Adapter) -> Reply:
    from syncret.providers.vault.auth import aws  # needs a parser of XML, among others

    return await aws.run(spec, method, context, adapter)


async def _gcp(spec: VaultSpec, method: VaultGcp, context: OpenContext, adapter: Adapter) -> Reply:
    from syncret.providers.vault.auth import gcp  # as above

    return await gcp.run(spec, method, context, adapter)


_AMBIENT: Final[Mapping[str, Callable[..., Any]]] = {
    "kubernetes": jwt.service_account,
    "iam": _iam,
    "gcp": _gcp,
}
"""Methods that may use the daemon's own identity."""


def choose_login(spec: VaultSpec, context: OpenContext) -> Login:
    """The first method that is configured, in ESO's order. Raises Malformed if there is none."""
    name, method = (spec.auth or VaultAuth()).chosen()
    if name in _AMBIENT:
        return Login(name, partial(_AMBIENT[name], spec, method, context), _ROLE.format(method=name))
    if name not in _NAMED:
        raise Malformed(
            "cannot initialize Vault client: no valid auth method specified",
            hint="auth names no method: write one of them, such as appRole",
        )
    run, hint = _NAMED[name]
    return Login(name, partial(run, method, context), hint)
