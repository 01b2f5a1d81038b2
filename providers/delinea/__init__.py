"""Delinea DevOps Secrets Vault."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.delinea.spec import DelineaSpec, check

PROVIDER: Final = Provider(SpecType("delinea", DelineaSpec, check=check))
