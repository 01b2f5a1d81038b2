"""The generator GCRAccessToken: a login to Google's container registries."""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver, SecretBytes
from syncret.providers.gcpsm.receivers import NAME, names_credentials
from syncret.providers.gcpsm.spec import (
    GcpAuth,
    GcpSecretRef,
    GcpWorkloadIdentity,
    GcpWorkloadIdentityFederation,
)

_HOUR: Final = 3600
_LOGIN: Final = "a login as the daemon's own identity at Google, whose access token becomes the value,"


class GcrWorkloadIdentity(Model):
    """GKE's workload identity; unlike in a store, the cluster must be named."""

    service_account_ref: ServiceAccountSelector
    cluster_location: str
    cluster_name: str
    cluster_project_id: str = msgspec.field(name="clusterProjectID", default="")


class GcrAuth(Model):
    """How to log in to Google; empty: application default credentials."""

    secret_ref: GcpSecretRef | None = None
    workload_identity: GcrWorkloadIdentity | None = None
    workload_identity_federation: GcpWorkloadIdentityFederation | None = None


class GcrAccessTokenSpec(Model):
    """A token of about an hour, as user name and password."""

    auth: GcrAuth
    project_id: str = msgspec.field(name="projectID")


async def generate(spec: GcrAccessTokenSpec, context: OpenContext) -> Generated:
    """A login for the registry. The token ends by itself; there is nothing to clean up."""
    from syncret.providers.gcpsm.auth import choose_login, open_login_context  # imports asyncio and TLS

    async with open_login_context(context) as login_context:
        auth = _store_auth(spec.auth)
        login = await choose_login(auth, spec.project_id, receivers(spec), login_context)
        token = await context.log_in(login)
    # A token without an expiry is assumed to expire in an hour.
    expiry = int(token.expires if token.expires is not None else context.now() + _HOUR)
    values = {
        "username": b"oauth2accesstoken",
        "password": token.value.token.raw,
        "expiry": str(expiry).encode(),
    }
    return Generated({name: SecretBytes(value) for name, value in values.items()})


def _store_auth(auth: GcrAuth) -> GcpAuth:
    """The same in the form of a store's auth."""
    workload = auth.workload_identity
    return GcpAuth(
        secret_ref=auth.secret_ref,
        workload_identity=None
        if workload is None
        else GcpWorkloadIdentity(
            service_account_ref=workload.service_account_ref,
            cluster_location=workload.cluster_location,
            cluster_name=workload.cluster_name,
            cluster_project_id=workload.cluster_project_id,
        ),
        workload_identity_federation=auth.workload_identity_federation,
    )


def receivers(spec: GcrAccessTokenSpec) -> Iterator[Receiver]:
    """Google's token server, unless the generator names credentials; the token itself becomes the value."""
    if not names_credentials(_store_auth(spec.auth)):
        yield Receiver(NAME, "https://oauth2.googleapis.com", _LOGIN, "auth")


GCR: Final = Generator(SpecType("GCRAccessToken", GcrAccessTokenSpec), generate=generate, receivers=receivers)
