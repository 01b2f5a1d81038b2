"""BeyondTrust Workload Credentials, the Secrets API.

spec        the spec of a store, its rules     client          the endpoints, the client of a store
connection  opens a store                      dynamic_secret  the spec of the generator
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.beyondtrustworkloadcredentials.spec import BeyondTrustWorkloadCredentialsSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("beyondtrustworkloadcredentials", BeyondTrustWorkloadCredentialsSpec, check=check),
    open=OnFirstUse("syncret.providers.beyondtrustworkloadcredentials.connection"),
)
