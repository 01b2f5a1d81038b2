"""The address of a store's API, which gets a token of the daemon if it logs in as its ServiceAccount."""

from collections.abc import Iterator

from syncret.providers.contract import Receiver
from syncret.providers.infisical.spec import InfisicalSpec


def base(spec: InfisicalSpec) -> str:
    """The address of the API: as in the operator, `hostAPI` may lack the `/api` at its end."""
    url = spec.host_api.rstrip("/")
    return url if url.endswith("/api") else f"{url}/api"


def receivers(spec: InfisicalSpec) -> Iterator[Receiver]:
    """The server, if the Kubernetes login names no token of its own."""
    login = spec.auth.kubernetes_auth_credentials
    if login is not None and login.service_account_token_path is None:
        sends = "a token of the daemon's ServiceAccount"
        yield Receiver("infisical", base(spec), sends, path="hostAPI")
