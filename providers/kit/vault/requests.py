"""The calls of hvac that are used: the allow-list. Whatever is not here goes over the wire without hvac.

Left out on purpose: `Client` (see `wire`); `userpass.login`, which puts the user name into the path
unquoted; `cert.login`, which hands files to `requests`; `aws.iam_login`, which signs for the global endpoint
whatever the region; and the key-value classes, whose paths are not those of a store.
"""

from collections.abc import Mapping

from hvac.api.auth_methods import JWT, AppRole, Gcp, Kubernetes, Ldap, Token
from hvac.api.system_backend.lease import Lease

from syncret.providers.kit.vault.entries import joined
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter

__all__ = [
    "app_role",
    "aws_iam",
    "cert",
    "gcp",
    "jwt",
    "kubernetes",
    "ldap",
    "look_up",
    "renew",
    "renew_lease",
    "revoke",
    "revoke_lease",
    "user_pass",
]


async def app_role(adapter: Adapter, mount: str, role_id: str, secret_id: str) -> Reply:
    return await AppRole(adapter).login(role_id, secret_id, mount_point=mount)


async def kubernetes(adapter: Adapter, mount: str, role: str, token: str) -> Reply:
    return await Kubernetes(adapter).login(role, token, mount_point=mount)


async def jwt(adapter: Adapter, mount: str, role: str, token: str) -> Reply:
    return await JWT(adapter).jwt_login(role, token, path=mount)


async def gcp(adapter: Adapter, mount: str, role: str, token: str) -> Reply:
    return await Gcp(adapter).login(role, token, mount_point=mount)


async def ldap(adapter: Adapter, mount: str, username: str, password: str) -> Reply:
    return await Ldap(adapter).login(username, password, mount_point=mount)


async def user_pass(adapter: Adapter, mount: str, username: str, password: str) -> Reply:
    """The same request as LDAP's, and quoted like it."""
    return await Ldap(adapter).login(username, password, mount_point=mount)


async def aws_iam(adapter: Adapter, mount: str, role: str, request: Mapping[str, str]) -> Reply:
    """`request` is what Vault shall send to AWS in our name, signed by us."""
    return await adapter.login(f"/v1/auth/{joined(mount)}/login", json={"role": role, **request})


async def cert(adapter: Adapter, mount: str, role: str) -> Reply:
    """The certificate itself is that of the connection."""
    return await adapter.login(f"/v1/auth/{joined(mount)}/login", json={"name": role} if role else {})


async def look_up(adapter: Adapter) -> Reply:
    """What the token is."""
    return await Token(adapter).lookup_self()


async def renew(adapter: Adapter) -> Reply:
    """Another life for the token."""
    return await Token(adapter).renew_self()


async def revoke(adapter: Adapter) -> None:
    """The end of the token, and of every lease that it was given."""
    await Token(adapter).revoke_self()


async def renew_lease(adapter: Adapter, lease: str) -> Reply:
    return await Lease(adapter).renew_lease(lease)


async def revoke_lease(adapter: Adapter, lease: str) -> None:
    await Lease(adapter).revoke_lease(lease)
