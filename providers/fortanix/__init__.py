"""Fortanix DSM: security objects of the types SECRET and OPAQUE.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.fortanix.spec import FortanixSpec, check

PROVIDER: Final = Provider(
    SpecType("fortanix", FortanixSpec, check=check), open=OnFirstUse("syncret.providers.fortanix.connection")
)
