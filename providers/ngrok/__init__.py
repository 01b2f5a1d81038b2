"""ngrok: secrets of one vault, which can be written and not read.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.ngrok.spec import NgrokSpec, check

PROVIDER: Final = Provider(
    SpecType("ngrok", NgrokSpec, check=check), open=OnFirstUse("syncret.providers.ngrok.connection")
)
