"""The receivers of a token of the daemon: the server of a store that logs in as its ServiceAccount."""

from collections.abc import Iterator

from syncret.providers.contract import Receiver
from syncret.providers.infisical.spec import InfisicalSpec


def receivers(spec: InfisicalSpec) -> Iterator[Receiver]:
    """The server, if the Kubernetes login names no token of its own."""
    login = spec.auth.kubernetes_auth_credentials
    if login is not None and login.service_account_token_path is None:
        sends = "a token of the daemon's ServiceAccount"
        yield Receiver("infisical", spec.host_api, sends, path="hostAPI")
