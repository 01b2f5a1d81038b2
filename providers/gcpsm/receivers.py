"""The receivers of the daemon's own identity for a store of Google, which cannot choose the server."""

from collections.abc import Iterator
from typing import Final

from syncret.providers.contract import Receiver
from syncret.providers.gcpsm.spec import GcpSmSpec, GkeWorkloadIdentity, GoogleAuth
from syncret.providers.kit.google.endpoints import Endpoints

NAME: Final = "gcpsm"
_ACCESS: Final = "an access token of the daemon's own identity at Google"


def names_credentials(auth: GoogleAuth[GkeWorkloadIdentity]) -> bool:
    """Whether the spec names a login; if not, application default credentials are used."""
    return any((auth.secret_ref, auth.workload_identity, auth.workload_identity_federation))


def receivers(spec: GcpSmSpec) -> Iterator[Receiver]:
    """Secret Manager, unless the store names credentials."""
    if not names_credentials(spec.auth):
        yield Receiver(NAME, Endpoints().secrets_of(spec.location or ""), _ACCESS, "auth")
