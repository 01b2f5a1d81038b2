"""1Password, directly, with a service account: a vault, or the variables of an environment.

spec        the spec of a store, its rules         client       reads and finds in a vault
sdk         1Password's SDK, which is an extra     push         makes and changes items
vault       the items of a vault, as it has them   items        fields and files of an item
kept        what was read, for a while             environment  the client of an environment
connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.onepassword_sdk.spec import BATCH, OnePasswordSDKSpec, check

RATE: Final = 1.0
"""Calls a second: 1Password Business allows ten thousand reads an hour, and a call is up to three."""

_API: Final = ApiNames(
    "1Password/SDK",
    read="Resolve",
    find="ItemsList",
    push="ItemsPut",
    delete="ItemsDelete",
    probe="ItemsList",
)

PROVIDER: Final = Provider(
    SpecType("onepasswordSDK", OnePasswordSDKSpec, check=check),
    open=OnFirstUse("syncret.providers.onepassword_sdk.connection"),
    batch_size=BATCH,
    published_rate=lambda _: RATE,
    api_names=lambda _: _API,
)
