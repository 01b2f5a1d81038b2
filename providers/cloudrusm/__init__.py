"""Cloud.ru Secret Manager.

spec        the spec of a store, its rules     client   the methods, the client of a store
connection  opens a store, its login
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.cloudrusm.spec import CloudRuSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("cloudrusm", CloudRuSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.cloudrusm.connection"),
)
