"""BeyondTrust Workload Credentials, the Secrets API."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.beyondtrustworkloadcredentials.spec import BeyondTrustWorkloadCredentialsSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(
    SpecType("beyondtrustworkloadcredentials", BeyondTrustWorkloadCredentialsSpec, check=check)
)
