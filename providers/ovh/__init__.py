"""OVHcloud Secret Manager: the secrets of one OKMS domain.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      push     which data a push writes
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.ovh.spec import OvhSpec, check

PROVIDER: Final = Provider(
    SpecType("ovh", OvhSpec, check=check), open=OnFirstUse("syncret.providers.ovh.connection")
)
