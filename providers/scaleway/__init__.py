"""Scaleway Secret Manager: the secrets of one project in one region.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      names    keys: by ID, by name, by path
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.scaleway.spec import ScalewaySpec, check

PROVIDER: Final = Provider(
    SpecType("scaleway", ScalewaySpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.scaleway.connection"),
)
