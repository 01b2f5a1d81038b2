"""Bitwarden Secrets Manager, through its SDK server.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.bitwardensecretsmanager.spec import BATCH, BitwardenSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("bitwardensecretsmanager", BitwardenSpec, check=check),
    open=OnFirstUse("syncret.providers.bitwardensecretsmanager.connection"),
    batch_size=BATCH,
)
