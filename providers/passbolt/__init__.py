"""Passbolt: the resources that one account can open.

spec        the spec of a store, its rules       client   the endpoints, the client of a store
connection  opens a store: a login with OpenPGP  openpgp  keys, with a library that is an extra
resources   resources as Passbolt stores them
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.passbolt.spec import PassboltSpec, check

PROVIDER: Final = Provider(
    SpecType("passbolt", PassboltSpec, check=check),
    open=OnFirstUse("syncret.providers.passbolt.connection"),
    batch_size=20,
)
