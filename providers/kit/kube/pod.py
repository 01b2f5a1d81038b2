"""The API server of the cluster that this process runs in, as the ServiceAccount of its pod."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from syncret.providers.kit.credentials import bearer, token_file
from syncret.providers.kit.http import Answer, Http, Tls
from syncret.providers.kit.kube.client import Kube

MOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod finds its token, and the authority of its API server."""


class _Mounted:
    """The pod's own token, which whoever mounts it renews."""

    def __init__(self, mount: Path) -> None:
        self._file = mount / "token"

    async def use(self, call: Callable[[Mapping[str, str]], Awaitable[Answer]]) -> Answer:
        token = token_file(self._file, what="ServiceAccount token")
        return await call(bearer(token))


def is_pod(environment: Mapping[str, str], mount: Path = MOUNT) -> bool:
    """Whether this process runs in a pod that may speak to its API server."""
    return bool(environment.get("KUBERNETES_SERVICE_HOST")) and (mount / "token").is_file()


@asynccontextmanager
async def open_own(environment: Mapping[str, str], mount: Path = MOUNT) -> AsyncGenerator[Kube, None]:
    """The API server of this pod. Raises Malformed where a mounted file cannot be read."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    authority = token_file(mount / "ca.crt", what="CA")
    async with Http(url, tls=Tls(ca=authority.raw)) as http:
        yield Kube(http, _Mounted(mount))
