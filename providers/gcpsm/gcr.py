"""The generator GCRAccessToken: a login to Google's container registries."""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver
from syncret.providers.gcpsm.receivers import NAME, names_credentials
from syncret.providers.gcpsm.spec import (
    GcpAuth,
    GcpSecretRef,
    GcpWorkloadIdentity,
    GcpWorkloadIdentityFederation,
)
from syncret.providers.values import SecretBytes

_HOUR: Final = 3600
_LOGIN: Final = "a login as the daemon's own identity at Google, whose access token becomes the value,"


class GcrWorkloadIdentity(Model):
    """GKE's workload identity; unlike in a store, the cluster must be named.

    Example: {serviceAccountRef: {name: app}, clusterLocation: europe-west3, clusterName: production}
    """

    service_account_ref: ServiceAccountSelector
    """The ServiceAccount; with the annotation `iam.gke.io/gcp-service-account` the generator acts as that
    account.
    Example: {name: app}"""
    cluster_location: str
    """Location of the cluster. Example: europe-west3"""
    cluster_name: str
    """Name of the cluster. Example: production"""
    cluster_project_id: str = msgspec.field(name="clusterProjectID", default="")
    """Project of the cluster; absent: the generator's own. Example: acme-clusters"""


class GcrAuth(Model):
    """How to log in to Google; empty: application default credentials.

    Example: {secretRef: {secretAccessKeySecretRef: {name: google-login, key: key.json}}}
    """

    secret_ref: GcpSecretRef | None = None
    """The key file of a service account."""
    workload_identity: GcrWorkloadIdentity | None = None
    """A ServiceAccount of a GKE cluster."""
    workload_identity_federation: GcpWorkloadIdentityFederation | None = None
    """An identity of another provider that a workload identity pool accepts."""


class GcrAccessTokenSpec(Model):
    """A token of about an hour, as user name and password.

    Example: {projectID: acme, auth: {}}
    """

    auth: GcrAuth
    """Who asks for the token."""
    project_id: str = msgspec.field(name="projectID")
    """Project that the identity belongs to. Example: acme"""


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
