"""IBM Cloud Secrets Manager.

spec      the spec of a store, its rules    auth         logins at IBM Cloud
api       the REST calls                    refs         the secret that a key names
client    the client of a store             payloads     values and properties of a secret
receivers where the daemon's own identity   connection   opens a store
          would go
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.ibm.receivers import receivers
from syncret.providers.ibm.refs import call_for_key
from syncret.providers.ibm.spec import IbmSpec, check

_API: Final = ApiNames("IBM/SecretsManager", read="GetSecretByNameType", by_key=call_for_key)

PROVIDER: Final = Provider(
    SpecType("ibm", IbmSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.ibm.connection"),
    receivers=receivers,
    api_names=lambda _: _API,
)
"""One secret is one call, as IBM has no batch API: the session shares reads and does not batch."""
