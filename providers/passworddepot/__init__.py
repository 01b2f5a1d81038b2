"""Password Depot Enterprise Server: entries of one database.

spec        the spec of a store
client      the endpoints, the client of a store
connection  opens a store: a login
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.passworddepot.spec import PasswordDepotSpec

PROVIDER: Final = Provider(
    SpecType("passworddepot", PasswordDepotSpec),
    open=OnFirstUse("syncret.providers.passworddepot.connection"),
    batch_size=50,
)
