"""Infisical."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.infisical.spec import InfisicalSpec, check

PROVIDER: Final = Provider(SpecType("infisical", InfisicalSpec, check=check))
