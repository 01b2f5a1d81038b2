"""Pulumi ESC: the values of one environment.

spec        the spec of a store, its rules     client      the endpoints, the client of a store
connection  opens a store, its logins          definition  changes of an environment's definition
paths       property paths
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider, whole_store
from syncret.providers.pulumi.spec import PulumiSpec, check

PROVIDER: Final = Provider(
    SpecType("pulumi", PulumiSpec, check=check),
    open=OnFirstUse("syncret.providers.pulumi.connection"),
    batch_size=1000,
    entry_of=whole_store,
)
"""One answer has the whole environment, however many values of it are asked for."""
