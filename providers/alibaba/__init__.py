"""Secrets of Alibaba Cloud's Key Management Service.

spec        the spec of a store, its rules     client   the actions, the client of a store
connection  opens a store, its logins          signing  signed requests
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.alibaba.spec import AlibabaSpec, check
from syncret.providers.contract import OnFirstUse, Provider


def published_rate(_spec: AlibabaSpec) -> float | None:
    """GetSecretValue at the shared gateway, for each account and region."""
    return 450.0


PROVIDER: Final = Provider(
    SpecType("alibaba", AlibabaSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.alibaba.connection"),
    published_rate=published_rate,
)
