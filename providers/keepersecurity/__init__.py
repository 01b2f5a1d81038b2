"""Keeper Secrets Manager: the records that are shared with one application.

spec           the spec of a store, its rules   client       reads and finds
configuration  who the store is                 push         makes and changes records
protocol       encrypted and signed requests    vault        the endpoints, what they answer with
cipher         the ciphers                      records      fields, files, and the JSON of a record
connection     opens a store                    public_keys  those of Keeper's servers
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.keepersecurity.spec import KeeperSpec, check

BATCH: Final = 500
"""As many records as Keeper recommends to share with one application."""

RATE: Final = 10.0
"""Calls a second: Keeper allows a device a hundred in ten seconds, for each endpoint."""

_API: Final = ApiNames(
    "KeeperSecurity", read="GetSecrets", find="GetSecrets", push="Save", delete="DeleteSecrets"
)


def title_of(remote_key: str) -> str:
    """The record that has the field `title/field`."""
    return remote_key.partition("/")[0]


PROVIDER: Final = Provider(
    SpecType("keepersecurity", KeeperSpec, check=check),
    open=OnFirstUse("syncret.providers.keepersecurity.connection"),
    batch_size=BATCH,
    entry_of=title_of,
    published_rate=lambda _: RATE,
    api_names=lambda _: _API,
)
