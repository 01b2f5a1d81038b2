"""The login methods of Vault, and the choice of a store's method."""

from functools import partial
from typing import Final

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.vault.tokens import Login
from syncret.providers.vault.auth import aws, gcp, jwt, static
from syncret.providers.vault.auth_spec import VaultAuth

_SECRET: Final = "check the Secret that the store names, and the mount path"
_ROLE: Final = "check role and mount path, and which accounts the role in Vault is bound to"


def choose_login(auth: VaultAuth, context: OpenContext) -> Login:
    """The first method that is configured, in ESO's order. Raises Malformed if there is none."""
    if auth.token_secret_ref is not None:
        return Login("token", partial(static.token, auth.token_secret_ref, context), _SECRET)
    if auth.app_role is not None:
        return Login("appRole", partial(static.app_role, auth.app_role, context), _SECRET)
    if auth.kubernetes is not None:
        return Login("kubernetes", partial(jwt.service_account, auth.kubernetes, context), _ROLE)
    if auth.ldap is not None:
        return Login("ldap", partial(static.ldap, auth.ldap, context), _SECRET)
    if auth.user_pass is not None:
        return Login("userPass", partial(static.user_pass, auth.user_pass, context), _SECRET)
    if auth.jwt is not None:
        return Login("jwt", partial(jwt.jwt, auth.jwt, context), _ROLE)
    return _machine_login(auth, context)


def _machine_login(auth: VaultAuth, context: OpenContext) -> Login:
    if auth.cert is not None:
        return Login(
            "cert", partial(static.cert, auth.cert), "check the certificate, and the role that trusts it"
        )
    if auth.iam is not None:
        return Login("iam", partial(aws.run, auth.iam, context), _ROLE)
    if auth.gcp is not None:
        return Login("gcp", partial(gcp.run, auth.gcp, context), _ROLE)
    raise Malformed(
        "cannot initialize Vault client: no valid auth method specified",
        hint="auth names no method: write one of them, such as appRole",
    )
