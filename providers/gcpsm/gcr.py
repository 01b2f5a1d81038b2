"""The generator GCRAccessToken: a login to Google's container registries."""

from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generator
from syncret.providers.gcpsm.spec import GcpSecretRef, GcpWorkloadIdentityFederation


class GcrWorkloadIdentity(Model):
    """GKE's workload identity; unlike in a store, the cluster must be named."""

    service_account_ref: ServiceAccountSelector
    cluster_location: str
    cluster_name: str
    cluster_project_id: str = msgspec.field(name="clusterProjectID", default="")


class GcrAuth(Model):
    """How to log in to Google; empty: as the environment says."""

    secret_ref: GcpSecretRef | None = None
    workload_identity: GcrWorkloadIdentity | None = None
    workload_identity_federation: GcpWorkloadIdentityFederation | None = None


class GcrAccessTokenSpec(Model):
    """A token of about an hour, as user name and password."""

    auth: GcrAuth
    project_id: str = msgspec.field(name="projectID")


GCR: Final = Generator(SpecType("GCRAccessToken", GcrAccessTokenSpec))
