"""OpenBao: key-value engines of both versions, read only."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.openbao.spec import OpenBaoSpec, check

PROVIDER: Final = Provider(
    SpecType("openBao", OpenBaoSpec, check=check), open=OnFirstUse("syncret.providers.openbao.connection")
)
