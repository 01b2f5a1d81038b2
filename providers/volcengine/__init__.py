"""Secrets of Volcengine's key management service.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store, its logins          signing  signed requests
receivers   addresses, and what gets the daemon's own identity
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.volcengine.receivers import receivers
from syncret.providers.volcengine.spec import VolcengineSpec, check

PROVIDER: Final = Provider(
    SpecType("volcengine", VolcengineSpec, check=check),
    open=OnFirstUse("syncret.providers.volcengine.connection"),
    receivers=receivers,
)
