"""Vaults of Oracle Cloud Infrastructure.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      signing  signed requests
principals  who signs                          receivers  where the daemon's own identity would go
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.oracle.receivers import receivers
from syncret.providers.oracle.spec import OracleSpec, check

PROVIDER: Final = Provider(
    SpecType("oracle", OracleSpec, check=check),
    open=OnFirstUse("syncret.providers.oracle.connection"),
    receivers=receivers,
)
