"""Google Cloud Secret Manager.

spec      the spec of a store, its rules     auth, federation   logins at Google
api       the REST calls                     payloads           values and properties of an entry
client    the client of a store              push               pushes and deletes
gcr       the generator                      connection         opens a store
receivers                                    where the daemon's own identity would go
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.gcpsm.receivers import receivers
from syncret.providers.gcpsm.spec import GcpSmSpec, check

_API: Final = ApiNames(
    "GCP/SecretManager",
    read="AccessSecretVersion",
    metadata="GetSecret",
    find="ListSecrets",
    push="AddSecretVersion",
    delete="DeleteSecret",
)


def published_rate(_spec: GcpSmSpec) -> float | None:
    """A project has 90,000 reads of values a minute. Lists, and writes, have 600: there the server throttles.

    https://cloud.google.com/secret-manager/quotas
    """
    return 1500.0


PROVIDER: Final = Provider(
    SpecType("gcpsm", GcpSmSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.gcpsm.connection"),
    receivers=receivers,
    published_rate=published_rate,
    api_names=lambda _: _API,
)
"""One value is one call, as Google has no batch API: the session shares reads and does not batch."""
