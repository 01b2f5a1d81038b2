"""MysteryBox, the secret manager of Nebius AI Cloud.

spec        the spec of a store, its rules     client   the method, the client of a store
connection  opens a store, its logins
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.nebiusmysterybox.spec import NebiusSpec, check

PROVIDER: Final = Provider(
    SpecType("nebiusmysterybox", NebiusSpec, check=check),
    open=OnFirstUse("syncret.providers.nebiusmysterybox.connection"),
)
