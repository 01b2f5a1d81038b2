"""The calls of hvac that we use; all other requests are sent without hvac.

Not used on purpose: `Client` (see `wire`); `userpass.login`, which does not quote the user name in the path;
`cert.login`, which passes files to `requests`; `aws.iam_login`, which signs for the global endpoint in any
region; and the key-value classes, whose paths are not those of a store.
"""

from collections.abc import Mapping

from syncret.providers.kit.vault.entries import joined
from syncret.providers.kit.vault.hvac_classes import JWT, AppRole, Gcp, Kubernetes, Ldap, Lease, Token
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter

__all__ = [
    "app_role",
    "aws_iam",
    "cert",
    "gcp",
    "jwt",
    "kubernetes",
    "look_up",
    "password",
    "renew",
    "renew_lease",
    "revoke",
    "revoke_lease",
]


async def app_role(adapter: Adapter, mount: str, role_id: str, secret_id: str) -> Reply:
    return await AppRole(adapter).login(role_id, secret_id, mount_point=mount)


async def kubernetes(adapter: Adapter, mount: str, role: str, token: str) -> Reply:
    return await Kubernetes(adapter).login(role, token, mount_point=mount)


async def jwt(adapter: Adapter, mount: str, role: str, token: str) -> Reply:
    return await JWT(adapter).jwt_login(role, token, path=mount)


async def gcp(adapter: Adapter, mount: str, role: str, token: str) -> Reply:
    return await Gcp(adapter).login(role, token, mount_point=mount)


async def password(adapter: Adapter, mount: str, username: str, password: str) -> Reply:
    """Of LDAP, and of `userpass`: the same request, with the user name quoted."""
    return await Ldap(adapter).login(username, password, mount_point=mount)


async def aws_iam(adapter: Adapter, mount: str, role: str, request: Mapping[str, str]) -> Reply:
    """`request` is the signed request that Vault forwards to AWS."""
    return await adapter.login(f"/v1/auth/{joined(mount)}/login", json={"role": role, **request})


async def cert(adapter: Adapter, mount: str, role: str) -> Reply:
    """The client certificate is that of the connection."""
    return await adapter.login(f"/v1/auth/{joined(mount)}/login", json={"name": role} if role else {})


async def look_up(adapter: Adapter) -> Reply:
    """The properties of the token."""
    return await Token(adapter).lookup_self()


async def renew(adapter: Adapter) -> Reply:
    """Renew the token."""
    return await Token(adapter).renew_self()


async def revoke(adapter: Adapter) -> None:
    """Revoke the token, and all its leases."""
    await Token(adapter).revoke_self()


async def renew_lease(adapter: Adapter, lease: str) -> Reply:
    return await Lease(adapter).renew_lease(lease)


async def revoke_lease(adapter: Adapter, lease: str) -> None:
    await Lease(adapter).revoke_lease(lease)
