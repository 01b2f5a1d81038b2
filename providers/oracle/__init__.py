"""Vaults of Oracle Cloud Infrastructure."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.oracle.spec import OracleSpec, check

PROVIDER: Final = Provider(SpecType("oracle", OracleSpec, check=check))
