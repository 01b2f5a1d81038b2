"""Delinea DevOps Secrets Vault: the secrets of one tenant.

spec        the spec of a store, its rules     client   the endpoint, the client of a store
connection  opens a store, by client credentials
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.delinea.spec import DelineaSpec, check

PROVIDER: Final = Provider(
    SpecType("delinea", DelineaSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.delinea.connection"),
)
