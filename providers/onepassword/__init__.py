"""1Password, through a Connect server.

spec        the spec of a store, its rules     client   the client of a store
connection  opens a store                      api      the endpoints, vaults and items
items       fields and files of an item        push     changes items
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.onepassword.spec import OnePasswordSpec, check

PROVIDER: Final = Provider(
    SpecType("onepassword", OnePasswordSpec, check=check),
    open=OnFirstUse("syncret.providers.onepassword.connection"),
    batch_size=50,
)
"""Each item is a call; the batch shares the list that says which item has which title."""
