"""Previder Vault: the secrets of one environment.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.previder.spec import PreviderSpec, check

PROVIDER: Final = Provider(
    SpecType("previder", PreviderSpec, check=check), open=OnFirstUse("syncret.providers.previder.connection")
)
