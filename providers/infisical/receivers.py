"""The address of a store's API, which gets a proof of the daemon's own identity if it logs in with that."""

from collections.abc import Iterator

from syncret.providers.contract import Receiver
from syncret.providers.infisical.spec import (
    AwsAuth,
    AzureAuth,
    GcpIdTokenAuth,
    InfisicalSpec,
    KubernetesAuth,
    Method,
)


def base(spec: InfisicalSpec) -> str:
    """The address of the API: as in the operator, `hostAPI` may lack the `/api` at its end."""
    url = spec.host_api.rstrip("/")
    return url if url.endswith("/api") else f"{url}/api"


def receivers(spec: InfisicalSpec) -> Iterator[Receiver]:
    """The server, unless the login that is used names credentials."""
    sends = _sent_by(spec.auth.chosen())
    if sends:
        yield Receiver("infisical", base(spec), sends, path="hostAPI")


def _sent_by(method: Method | None) -> str:
    """What of the daemon's identity a login sends; empty if it names all that it sends."""
    match method:
        case KubernetesAuth(service_account_token_path=None):
            return "a token of the daemon's ServiceAccount"
        case AwsAuth():
            return "a request signed with the AWS credentials of the daemon"
        case AzureAuth():
            return "an access token of the daemon's identity at Azure"
        case GcpIdTokenAuth():
            return "an identity token of the daemon's machine at Google"
        case _:
            return ""
