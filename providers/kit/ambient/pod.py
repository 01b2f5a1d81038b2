"""The pod that the daemon runs in: its own ServiceAccount, and its API server."""

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

import msgspec

from syncret.config.meta import ObjectRef
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, SyncError
from syncret.providers.kit.ambient.files import token_file
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Answer, Http, Tls
from syncret.providers.kit.kube.client import Kube
from syncret.providers.values import SecretBytes

MOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The mount point of a pod's token and of the CA of its API server."""

_SECONDS: Final = 600
"""The shortest lifetime that an API server issues."""

_TIMEOUT: Final = 5.0
"""Seconds that an API server has to issue a token, before the mounted one is used."""

_PREFIX: Final = "system:serviceaccount"


class IssueToken(Protocol):
    """Issues a token of a ServiceAccount for audiences (none: the API server's own). Raises SyncError."""

    async def __call__(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken: ...


class _Claims(msgspec.Struct):
    sub: str = ""


class _PodToken:
    """The pod's own token, which the kubelet renews."""

    def __init__(self, mount: Path) -> None:
        self._file = mount / "token"

    async def use(self, call: Callable[[Mapping[str, str]], Awaitable[Answer]]) -> Answer:
        token = token_file(self._file, what="ServiceAccount token")
        return await call(bearer(token))


def is_pod(environment: Mapping[str, str], mount: Path = MOUNT) -> bool:
    """Whether this process runs in a pod with a token for its API server."""
    return bool(environment.get("KUBERNETES_SERVICE_HOST")) and (mount / "token").is_file()


@asynccontextmanager
async def open_in_cluster(environment: Mapping[str, str], mount: Path = MOUNT) -> AsyncGenerator[Kube, None]:
    """A client of this pod's API server. Raises Malformed if a mounted file cannot be read."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    authority = token_file(mount / "ca.crt", what="CA")
    async with Http(url, tls=Tls(ca=authority.raw), network=None) as http:
        yield Kube(http, _PodToken(mount))


async def own_account_token(issue: IssueToken, audience: str, *, mount: Path = MOUNT) -> SecretBytes:
    """A token of the pod's own ServiceAccount for an audience (empty: the API server's), for ten minutes.

    Where none can be issued for the API server itself, it is the mounted token, which lives longer.
    """
    mounted = token_file(mount / "token", what="service account token")
    account = account_of(mounted)
    problem = "the mounted token does not say whose it is"
    if account is not None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                issued = await issue(account, (audience,) if audience else (), _SECONDS)
        except SyncError as error:
            problem = error.message
        except TimeoutError:
            problem = "the API server does not answer"
        else:
            return issued.token
    if not audience:
        return mounted
    raise Denied(
        f'no token for the audience "{audience}" can be issued: {problem}',
        hint="let the daemon's ServiceAccount create serviceaccounts/token of itself",
    )


def account_of(token: SecretBytes) -> ObjectRef | None:
    """The ServiceAccount that a token was issued for, by its claims; the signature is not checked."""
    parts = token.raw.split(b".")
    if len(parts) != 3:  # noqa: PLR2004  # of a JWT
        return None
    try:
        claims = msgspec.json.decode(urlsafe_b64decode(parts[1] + b"=="), type=_Claims)
    except (ValueError, msgspec.MsgspecError):
        return None
    kind, _, name = claims.sub.rpartition(":")
    prefix, _, namespace = kind.rpartition(":")
    if prefix != _PREFIX or not namespace or not name:
        return None
    return ObjectRef("", "ServiceAccount", namespace, name)
