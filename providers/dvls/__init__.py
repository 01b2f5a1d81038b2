"""Devolutions Server: credential entries of one vault, or of all that the application may see.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      entries  the fields of each kind of entry
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.dvls.spec import DvlsSpec, check

PROVIDER: Final = Provider(
    SpecType("dvls", DvlsSpec, check=check), open=OnFirstUse("syncret.providers.dvls.connection")
)
