"""Databases of a Password Depot Enterprise Server."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.passworddepot.spec import PasswordDepotSpec

PROVIDER: Final = Provider(SpecType("passworddepot", PasswordDepotSpec))
