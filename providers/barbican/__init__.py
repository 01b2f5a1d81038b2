"""OpenStack Barbican: the secrets of one project.

spec      the spec of a store, its rules     client      the endpoints, the client of a store
keystone  logs in, finds Barbican            connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.barbican.spec import BarbicanSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("barbican", BarbicanSpec, check=check), open=OnFirstUse("syncret.providers.barbican.connection")
)
