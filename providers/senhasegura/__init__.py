"""senhasegura DSM: the secrets of one application.

spec        the spec of a store, its rules     client   the endpoint, the client of a store
connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.senhasegura.spec import SenhaseguraSpec, check

PROVIDER: Final = Provider(
    SpecType("senhasegura", SenhaseguraSpec, check=check),
    open=OnFirstUse("syncret.providers.senhasegura.connection"),
    batch_size=1000,
)
"""One answer has all secrets of the application, however many are asked for."""
